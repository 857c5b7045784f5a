"""The rules by which threadgroups share a core, by GPU family, from `occupancy.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...facts import FactFile, SpecError, measure, read_package_file, table
from .inherit import inherited, steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Residency:
    """What limits the simdgroups and threadgroups of a core.

    Attributes:
        simdgroups: at most so many.
        register_file: bytes of all threads' registers.
        threadgroup_memory: bytes of a pool of fixed size; 0 if there is none.
        threads_by_registers: (16-bit registers, threads): up to so many registers, so many threads.
        threadgroups_by_memory: (bytes that a threadgroup takes, threadgroups per core).
        spill_above: 32-bit registers of a thread above which some live in memory; 0 for never.
        spill_to: registers that stay when some live in memory.
    """

    simdgroups: int
    register_file: float
    threadgroup_memory: float
    threads_by_registers: tuple[tuple[int, float], ...]
    threadgroups_by_memory: tuple[tuple[int, float], ...]
    spill_above: float
    spill_to: float


_SCALES = {"KiB": 1024.0, "simdgroup": 1.0, "register": 1.0}
_NUMBERS = ("simdgroups", "register_file", "threadgroup_memory", "spill_above", "spill_to")
_CURVES = ("threads_by_registers", "threadgroups_by_memory")


@cache
def residency(timing: str) -> Residency:
    """The rules of the tables called `timing` ("apple7"). Raises SpecError."""
    return residency_of(read_package_file("assay.hw.apple.facts", "occupancy.toml"), timing)


def residency_of(file: FactFile, timing: str) -> Residency:
    """What `file` states for `timing`. Raises SpecError."""
    tables = inherited(file, timing)
    if unknown := sorted(tables.keys() - {*_NUMBERS, *_CURVES}):
        raise SpecError(f"{file.name}: [{timing}] has {', '.join(unknown)}, which nothing reads")
    if missing := sorted({"simdgroups", "register_file"} - tables.keys()):
        raise SpecError(f"{file.name}: [{timing}] lacks {', '.join(missing)}")
    found = {name: _number(file, f"{timing}.{name}", tables.get(name)) for name in _NUMBERS}
    memory, registers = (_curve(file, timing, name, tables.get(name)) for name in reversed(_CURVES))
    return Residency(
        simdgroups=int(found["simdgroups"]),
        register_file=found["register_file"],
        threadgroup_memory=found["threadgroup_memory"],
        threads_by_registers=registers,
        threadgroups_by_memory=memory,
        spill_above=found["spill_above"],
        spill_to=found["spill_to"],
    )


def _number(file: FactFile, key: str, value: object) -> float:
    if value is None:
        return 0.0
    found = measure(file, key, value)
    if found.unit not in _SCALES:
        raise SpecError(f"{file.name}: {key}.unit is {found.unit!r}, not one of {list(_SCALES)}")
    return found.value * _SCALES[found.unit]


def _curve(file: FactFile, timing: str, name: str, value: object) -> tuple[tuple[int, float], ...]:
    if value is None:
        return ()
    key = f"{timing}.{name}"
    return steps(file, key, table(file.name, key, value))
