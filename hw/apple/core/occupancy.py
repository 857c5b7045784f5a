"""How many threadgroups of a kernel are on one core at a time, and what keeps it from more."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log

from assay.sim.lanes import LANES

from ..facts.chips import Chip
from ..facts.residency import Residency, residency
from .result import Occupancy

_REGISTER_BYTES = 4
_HALVES_STEP = 8  # 16-bit registers are handed out in steps of so many
_COUNTED = 4  # simdgroups of the threadgroups that were counted
# Below this, the measured curve of residency by threadgroup memory is that of other limits.
_NO_MEMORY_LIMIT = 4096


def occupancy(
    chip: Chip, *, registers: int, simdgroups: int, threadgroup_memory: int, threadgroups: int
) -> Occupancy:
    """What is resident on a core of `chip`.

    Args:
        chip: the chip.
        registers: 32-bit registers that a thread needs.
        simdgroups: of one threadgroup.
        threadgroup_memory: bytes that one threadgroup takes.
        threadgroups: of the whole dispatch.
    """
    rules = residency(chip.timing)
    spilled = _spilled(rules, registers)
    kept = registers * (1 - spilled)
    limits = {
        "simdgroups": rules.simdgroups // simdgroups,
        "registers": _by_registers(rules, kept) // simdgroups,
        "threadgroups": _by_count(rules, simdgroups),
        "threadgroup memory": _by_memory(rules, threadgroup_memory),
        "grid": ceil(threadgroups / chip.cores),
    }
    limiter = min(limits, key=lambda name: limits[name])
    resident = max(1, limits[limiter])
    return Occupancy(
        threadgroups=resident,
        simdgroups=resident * simdgroups,
        limiter=limiter,
        spilled=spilled,
    )


def _spilled(rules: Residency, registers: int) -> float:
    if not rules.spill_above or registers <= rules.spill_above:
        return 0.0
    return (registers - rules.spill_to) / registers


def _by_registers(rules: Residency, registers: float) -> int:
    """Simdgroups of a core whose registers fit."""
    halves = ceil(2 * max(registers, 1) / _HALVES_STEP) * _HALVES_STEP
    fits = int(rules.register_file / (halves * _REGISTER_BYTES / 2 * LANES))
    table = rules.threads_by_registers
    if not table or halves <= table[0][0]:
        return fits
    threads = next((threads for most, threads in table if halves <= most), table[-1][1])
    return int(threads) // LANES


def _by_count(rules: Residency, simdgroups: int) -> int:
    """Threadgroups of a core where only their number limits them."""
    if not rules.threadgroups_by_memory:
        return rules.simdgroups
    counted = rules.threadgroups_by_memory[0][1]
    return max(round(counted), int(counted * _COUNTED) // simdgroups)


def _by_memory(rules: Residency, threadgroup_memory: int) -> int:
    """Threadgroups of a core whose threadgroup memory fits."""
    most = rules.simdgroups
    if rules.threadgroup_memory and threadgroup_memory:
        most = min(most, int(rules.threadgroup_memory / threadgroup_memory))
    if rules.threadgroups_by_memory and threadgroup_memory >= _NO_MEMORY_LIMIT:
        most = min(most, round(_between(rules.threadgroups_by_memory, threadgroup_memory)))
    return most


def _between(curve: tuple[tuple[int, float], ...], at: int) -> float:
    """The curve's value, by straight lines over the logarithm of `at`."""
    for (low, first), (high, second) in pairwise(curve):
        if at <= high:
            share = log(max(at, low) / low) / log(high / low)
            return first + share * (second - first)
    return curve[-1][1]
