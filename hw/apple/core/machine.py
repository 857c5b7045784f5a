"""A chip in the core model's terms: tables by instruction class, times in ticks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from assay.sim.lanes import LANES
from assay.sim.simt.emit.tape import LINE_BYTES

from ...facts import SpecError
from ..facts.chips import Chip
from ..facts.instructions import WIDTHS, InstructionClass, InstructionSet, instruction_set
from ..facts.memory import MemorySpec, memory
from .shared import REUSE, TICKS, Does

_GRAIN = 16  # cycles that a wait must have to be a slice of its own

_DOES = {
    "device_load": Does.CACHED_LOAD,
    "constant_load": Does.CACHED_LOAD,
    "device_store": Does.CACHED_STORE,
    "device_atomic": Does.CACHED_ATOMIC,
    "private_load": Does.PRIVATE_ACCESS,
    "private_store": Does.PRIVATE_ACCESS,
    "threadgroup_load": Does.THREADGROUP_ACCESS,
    "threadgroup_store": Does.THREADGROUP_ACCESS,
    "threadgroup_atomic": Does.THREADGROUP_ATOMIC,
    "barrier": Does.WAIT_ALL,
    "async_copy_wait": Does.WAIT_COPIES,
    "copy_device_load": Does.COPY_FROM_CACHED,
    "copy_device_store": Does.COPY_TO_CACHED,
    "copy_threadgroup_load": Does.COPY_FROM_THREADGROUP,
    "copy_threadgroup_store": Does.COPY_TO_THREADGROUP,
}


def ticks(cycles: float) -> int:
    """A time in cycles as the nearest whole number of ticks."""
    return round(cycles * TICKS)


@functools.lru_cache(maxsize=256)
def class_tables(timing: str, names: tuple[str, ...]) -> Mapping[str, NDArray[np.generic]]:
    """The arrays `class_*` and `reuse` for the classes that a program uses, on chips of a kind.

    Raises:
        SpecError: for a class that the chip's tables do not have.
    """
    known = instruction_set(timing)
    if unknown := sorted(set(names) - known.classes.keys()):
        raise SpecError(
            f"instructions.toml: [{timing}.classes] lacks {', '.join(unknown)}; "
            f"there are {', '.join(known.classes)}"
        )
    classes = [known.classes[name] for name in names]

    def column(of: Callable[[InstructionClass], int], kind: type) -> NDArray[np.generic]:
        return np.array([of(one) for one in classes], kind)

    return {
        "class_does": column(lambda one: _DOES.get(one.name, Does.ARITHMETIC), np.uint8),
        "class_pipe": column(lambda one: known.pipes.index(one.pipe), np.uint8),
        "class_width": column(
            lambda one: (
                "",
                *WIDTHS,
            ).index(one.operands),
            np.uint8,
        ),
        "class_issue": column(lambda one: ticks(one.issue), np.int64),
        "class_busy": column(lambda one: ticks(one.busy), np.int64),
        "class_latency": column(lambda one: ticks(one.latency), np.int64),
        "class_turn": _turns(classes),
        "class_after": _after(classes, known),
        "reuse": _reuse(known),
    }


def _turns(classes: list[InstructionClass]) -> NDArray[np.int64]:
    """Ranks by issue cycles: the longest instructions have the first turn."""
    issue = [ticks(one.issue) for one in classes]
    longest = sorted(set(issue), reverse=True)
    return np.array([longest.index(one) for one in issue], np.int64)


def _after(classes: list[InstructionClass], known: InstructionSet) -> NDArray[np.int64]:
    """Ticks from an instruction until its pipe takes one of another class; -1: not its pipe."""
    table = np.full((len(classes), len(classes)), -1, np.int64)
    for row, last in enumerate(classes):
        for column, one in enumerate(classes):
            if last is one:
                table[row, column] = ticks(last.interval)
            elif last.pipe == one.pipe:
                turns = known.turnaround.get(last.pipe, 0.0) if last.unit != one.unit else 0.0
                table[row, column] = ticks(last.busy) + ticks(turns)
    return table


def _reuse(known: InstructionSet) -> NDArray[np.int64]:
    table = np.zeros((len(WIDTHS), REUSE), np.int64)
    for row, width in enumerate(WIDTHS):
        cycles = known.reuse[width][:REUSE]
        table[row, : len(cycles)] = [ticks(one) for one in cycles]
    return table


def dram_rate(chip: Chip) -> float:
    """Bytes per cycle that all cores get from DRAM."""
    return chip.bandwidth * chip.sustained / chip.clock


def peak_bytes(chip: Chip) -> dict[str, float]:
    """Bytes per second that all cores together get of each level at most.

    Those of threadgroup memory are of accesses without conflict whose lanes name consecutive words.
    """
    spec = memory(chip.timing)
    of_core = {
        "threadgroup_memory": LANES * 4 / spec.threadgroup_interval,
        "l1": spec.l1_rate,
        "l2": spec.l2_rate,
        "slc": _slc_rate(spec, chip, chip.cores),
        "dram": min(spec.l2_rate, dram_rate(chip) / chip.cores),
    }
    return {level: rate * chip.cores * chip.clock for level, rate in of_core.items()}


def _slc_rate(spec: MemorySpec, chip: Chip, cores: int) -> float:
    """Bytes per cycle that each of the cores at work gets from the SLC."""
    return min(spec.l2_rate, spec.slc_rate * chip.cores / cores)


def numbers(chip: Chip, cores: int) -> dict[str, int]:
    """The numbers of the job that are the chip's, with `cores` of it at work."""
    spec = memory(chip.timing)
    ns = chip.clock * 1e-9  # cycles of a nanosecond
    dram = min(spec.l2_rate, dram_rate(chip) / cores)
    return {
        "outstanding": int(spec.outstanding_lines),
        "sector": int(spec.sector),
        "queue": ticks(spec.port_queue),
        "grain": ticks(_GRAIN),
        "active_cores": cores,
        "l1_full_line": ticks(LINE_BYTES / spec.l1_rate),
        "l1_line": ticks(spec.l1_line_interval),
        "l1_access": ticks(spec.l1_access),
        "l1_latency": ticks(spec.l1_latency),
        "l2_line": ticks(LINE_BYTES / spec.l2_rate),
        "l2_latency": ticks(spec.l2_latency),
        "slc_line": ticks(LINE_BYTES / _slc_rate(spec, chip, cores)),
        "slc_latency": ticks(spec.slc_latency * ns),
        "dram_line": ticks(LINE_BYTES / dram),
        "write_line": ticks(LINE_BYTES * spec.write_cost / dram),
        "write_room": ticks(spec.write_share * chip.l2 / cores * spec.write_cost / dram),
        "dram_latency": ticks(spec.dram_latency * ns),
        "dispatch_start": ticks(spec.dispatch_start),
        "launch_latency": ticks(spec.threadgroup_launch),
        "launch_interval": ticks(spec.simdgroup_launch_interval),
        **_on_core(spec),
    }


def _on_core(spec: MemorySpec) -> dict[str, int]:
    return {
        "threadgroup_interval": ticks(spec.threadgroup_interval),
        "threadgroup_broadcast": ticks(spec.threadgroup_broadcast),
        "threadgroup_row": ticks(spec.threadgroup_row),
        "threadgroup_way": ticks(spec.threadgroup_way),
        "threadgroup_latency": ticks(spec.threadgroup_latency),
        "threadgroup_atomic_interval": ticks(spec.threadgroup_atomic_interval),
        "threadgroup_atomic_serial": ticks(spec.threadgroup_atomic_serial),
        "threadgroup_atomic_latency": ticks(spec.threadgroup_atomic_latency),
        "atomic_serial": ticks(spec.device_atomic_serial),
        "atomic_line": ticks(spec.device_atomic_line),
        "atomic_word": ticks(spec.device_atomic_word),
        "atomic_slice_lines": ticks(spec.device_atomic_slice_lines),
        "atomic_slices": int(spec.device_atomic_slices),
        "atomic_latency": ticks(spec.device_atomic_latency),
        "private_interval": ticks(spec.private_interval),
        "barrier_latency": ticks(spec.barrier_latency),
    }
