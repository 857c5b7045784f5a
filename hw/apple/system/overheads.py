"""What it costs to hand work to a GPU: of dispatches, barriers, passes and command buffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...facts import FactFile, SpecError, fact, read_package_file, table
from ..facts.chips import Chip

_FILE = "overheads.toml"
_COUNTS = ("concurrent_dispatches", "concurrent_queues")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheads:
    """Times in nanoseconds.

    Attributes:
        dispatch: between the starts of dispatches that do not wait for each other.
        barrier: from the end of a dispatch until one that waits for it is handed out.
        pass_change: from the end of a pass until the first dispatch of the next.
        command_buffer: GPU time of an empty command buffer.
        completion: from commit until the CPU sees the end, less the GPU's time.
        concurrent_dispatches: dispatches of one encoder that a core works on at a time.
        concurrent_queues: queues whose commands run at the same time.
    """

    dispatch: int
    barrier: int
    pass_change: int
    command_buffer: int
    completion: int
    concurrent_dispatches: int
    concurrent_queues: int


@cache
def overheads(chip: Chip) -> Overheads:
    """Those of a chip's family. Raises SpecError when the data file is wrong."""
    return overheads_of(read_package_file("assay.hw.apple.facts", _FILE), chip.family)


def overheads_of(file: FactFile, family: int) -> Overheads:
    """What `file` states for GPUs of a family (9 is Apple9). Raises SpecError."""
    tables = table(file.name, "overheads", file.tables.get("overheads"))
    numbers = _numbers(file, "default", tables.get("default"))
    own = f"apple{family}"
    if own in tables:
        numbers |= _numbers(file, own, tables[own])
    wanted = {name: name for name in Overheads.__dataclass_fields__} | {"pass_change": "pass"}
    if missing := sorted(key for key in wanted.values() if key not in numbers):
        raise SpecError(f"{file.name}: [overheads.default] lacks {', '.join(missing)}")
    return Overheads(**{name: numbers[key] for name, key in wanted.items()})


def _numbers(file: FactFile, name: str, value: object) -> dict[str, int]:
    where = f"overheads.{name}"
    found = {}
    for key, entry in table(file.name, where, value).items():
        stated = fact(file, f"{where}.{key}", entry)
        if key not in _COUNTS and stated.unit != "ns":
            raise SpecError(f"{file.name}: {where}.{key} is in {stated.unit}; expected ns")
        if key in _COUNTS and stated.value < 1:
            raise SpecError(f"{file.name}: {where}.{key} is {stated.value}; expected at least 1")
        found[key] = int(stated.value)
    return found
