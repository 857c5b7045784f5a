"""What memory costs a core, by GPU family, from `memory.toml`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

from ...facts import FactFile, SpecError, measure, read_package_file
from .inherit import filled, inherited


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySpec:
    """Sizes, rates and latencies as `memory.toml` explains them.

    Sizes are in bytes, rates in bytes per cycle, times in cycles, and those of SLC and DRAM in
    nanoseconds: they have clocks of their own.
    """

    l1: float
    l1_rate: float
    l1_line_interval: float
    l1_access: float
    l1_latency: float
    l2_rate: float
    l2_latency: float
    slc_rate: float
    slc_latency: float
    dram_latency: float
    write_cost: float
    write_share: float
    outstanding_lines: float
    port_queue: float
    sector: float
    threadgroup_latency: float
    threadgroup_interval: float
    threadgroup_broadcast: float
    threadgroup_row: float
    threadgroup_way: float
    threadgroup_atomic_latency: float
    threadgroup_atomic_interval: float
    threadgroup_atomic_serial: float
    device_atomic_latency: float
    device_atomic_serial: float
    device_atomic_line: float
    device_atomic_word: float
    device_atomic_slice_lines: float
    device_atomic_slices: float
    private_interval: float
    barrier_latency: float
    spilled_result: float
    dispatch_start: float
    threadgroup_launch: float
    simdgroup_launch_interval: float


_SCALES = {"KiB": 1024.0}
_UNITS = ("KiB", "B", "B/cycle", "cycle", "ns", "ratio", "line", "slice")


@cache
def memory(timing: str) -> MemorySpec:
    """The memory of the tables called `timing` ("apple7"). Raises SpecError."""
    return memory_of(read_package_file("assay.hw.apple.facts", "memory.toml"), timing)


def memory_of(file: FactFile, timing: str) -> MemorySpec:
    """What `file` states for `timing`. Raises SpecError."""
    found: dict[str, float] = {}
    for name, value in inherited(file, timing).items():
        entry = measure(file, f"{timing}.{name}", value)
        if entry.unit not in _UNITS:
            raise SpecError(
                f"{file.name}: {timing}.{name}.unit is {entry.unit!r}, not one of {_UNITS}"
            )
        found[name] = entry.value * _SCALES.get(entry.unit, 1.0)
    names = tuple(field.name for field in fields(MemorySpec))
    return filled(file, timing, MemorySpec, names, found)
