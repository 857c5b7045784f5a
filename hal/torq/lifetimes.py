"""Memory over time: which buffer is where from which action to which, and how full LRAM is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.hw.torq.check.npu_finding import npu_finding
from assay.sim.check import Finding, UnitPlace

from .format import Alloc, Dealloc, Executable


@dataclass(frozen=True, kw_only=True, slots=True)
class Life:
    """A buffer: bytes at an address, from action `begin` up to action `end` (not included)."""

    number: int
    memory: str
    address: int
    size: int
    begin: int
    end: int


def lives(executable: Executable) -> tuple[Life, ...]:
    """Every buffer that actions allocate, in the order in which they do."""
    alive: dict[int, list[int]] = {}
    found: list[tuple[Alloc, int, int]] = []
    for index, action in enumerate(executable.actions):
        if isinstance(action, Alloc):
            alive.setdefault(action.number, []).append(len(found))
            found.append((action, index, len(executable.actions)))
        elif isinstance(action, Dealloc):
            for at in alive.pop(action.number, []):
                found[at] = (found[at][0], found[at][1], index)
    return tuple(
        Life(
            number=alloc.number,
            memory=alloc.buffer_type.name,
            address=alloc.address,
            size=alloc.size,
            begin=begin,
            end=end,
        )
        for alloc, begin, end in found
    )


def peak(found: Sequence[Life], memory: str) -> tuple[int, int]:
    """(bytes, action) when most of a memory is taken by buffers; (0, 0) if none are in it."""
    changes: dict[int, int] = {}
    for life in found:
        if life.memory == memory:
            changes[life.begin] = changes.get(life.begin, 0) + life.size
            changes[life.end] = changes.get(life.end, 0) - life.size
    most, when, now = 0, 0, 0
    for action in sorted(changes):
        now += changes[action]
        if now > most:
            most, when = now, action
    return most, when


def over_budget(executable: Executable, capacity: int, program: str = "") -> Finding | None:
    """Tells when buffers that live at one time need more LRAM than there is.

    Each of them may well lie inside of LRAM; some then lie on top of each other.
    """
    found = lives(executable)
    most, when = peak(found, "LRAM")
    if most <= capacity:
        return None
    alive = [life for life in found if life.memory == "LRAM" and life.begin <= when < life.end]
    numbers = ", ".join(str(life.number) for life in alive)
    return npu_finding(
        "npu-lram-budget",
        f"from action {when} on, buffers {numbers} need {most} bytes of LRAM at once; "
        f"there are {capacity}",
        UnitPlace(unit="HOST"),
        program=program,
        memory="LRAM",
        start=min(life.address for life in alive),
        stop=max(life.address + life.size for life in alive),
        tensor=f"buffer {alive[-1].number}",
    )
