"""Follows a run beside the notes of its compiler: which task is running, and does it touch what the
compiler meant it to. A program without notes is compared with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..facts.registers import registers
from ..notes import Notes, Operand, SliceRun, TaskNote
from .ranges import Ranges, ordered, without


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The bytes of a memory that an agent of the running program touches.

    `unmoved`: if it goes by offsets, the same with all of them 0.
    """

    agent: str
    memory: str
    ranges: Ranges
    unmoved: Ranges = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """What an agent touches and was not meant to (`extra`), and the other way round (`missing`)."""

    agent: str
    memory: str
    tensor: str
    extra: Ranges
    missing: Ranges


class Declared:
    """Where every unit is in the notes."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._programs: dict[str, tuple[TaskNote, ...]] = {}
        self._next: dict[str, int] = {}
        self._transfers = 0
        self._started: set[int] = set()
        self._runs: dict[str, list[SliceRun]] = {}
        for run in notes.slice_runs:
            self._runs.setdefault(run.unit, []).append(run)
        self._known = bool(notes.slice_programs or notes.slice_runs or notes.transfers)

    def program(self, unit: str, address: int) -> str:
        """A slice starts the program at an address; tells what is wrong with that, if anything."""
        self._next[unit] = 0
        if self._notes.slice_runs:
            return self._run(unit, address)
        self._programs[unit] = self._notes.slice_programs.get(address, ())
        self._started.add(address)
        if self._notes.slice_programs and address not in self._notes.slice_programs:
            return f"runs a program at {address:#x}, where its compiler put none"
        return ""

    def _run(self, unit: str, address: int) -> str:
        """Takes up the unit's next run; tells what is wrong with it, if anything."""
        left = self._runs.get(unit, [])
        run = left.pop(0) if left else SliceRun(unit=unit, address=-1, tasks=())
        self._programs[unit] = run.tasks
        if run.address != address:
            meant = f"at {run.address:#x}" if run.address >= 0 else "no more"
            return f"runs a program at {address:#x}, and its compiler meant {meant}"
        return ""

    def ended(self, unit: str) -> str:
        """A slice ends its program; tells what is wrong with that, if anything."""
        meant, ran = len(self._programs.get(unit, ())), self._next.get(unit, 0)
        return f"ends its program after {ran} of {meant} tasks" if ran < meant else ""

    def task(self, unit: str) -> TaskNote | None:
        """A slice starts its next task; gives what that is for."""
        self._next[unit] = self._next.get(unit, 0) + 1
        return self.of(unit)

    def transfer(self, unit: str) -> TaskNote | None:
        """XR or XW starts; gives what for."""
        number, self._transfers = self._transfers, self._transfers + 1
        known = self._notes.transfers[number : number + 1]
        self._programs[unit], self._next[unit] = known, 1
        return known[0] if known else None

    def of(self, unit: str) -> TaskNote | None:
        """What the unit's running task is for, or its last one."""
        tasks, number = self._programs.get(unit, ()), self._next.get(unit, 0)
        return tasks[number - 1] if 0 < number <= len(tasks) else None

    def lacking(self) -> str:
        """The program is done; tells which transfer or slice program it left out, if any."""
        if self._transfers < len(self._notes.transfers):
            left = self._notes.transfers[self._transfers]
            return f"never starts what was to {left}"
        for address, tasks in self._notes.slice_programs.items():
            if address not in self._started:
                what = ", ".join(str(task) for task in tasks)
                return f"never runs the slice program at {address:#x} ({what})"
        for unit, runs in self._runs.items():
            if runs:
                what = ", ".join(str(task) for task in runs[0].tasks)
                return f"never runs the program of {unit} at {runs[0].address:#x} ({what})"
        return ""

    def is_beyond(self, unit: str) -> bool:
        """Whether the unit's running task is one more than its compiler made."""
        return self._known and self.of(unit) is None


def deviations(note: TaskNote, reaches: Sequence[Reach]) -> Iterator[Deviation]:
    """How what a task touches differs from what it was meant to, for each agent that does.

    What goes by offsets in memory is compared with all of them 0, too: a wrong start may hide among
    them.
    """
    if not note.operands:
        return
    for agent in dict.fromkeys([*(o.agent for o in note.operands), *(r.agent for r in reaches)]):
        operands = [operand for operand in note.operands if operand.agent == agent]
        mine = [reach for reach in reaches if reach.agent == agent]
        extra, missing = _difference(operands, mine)
        if extra or missing:
            yield Deviation(
                agent=agent,
                memory=(mine or operands)[0].memory,
                tensor=operands[0].tensor if operands else "",
                extra=extra,
                missing=missing,
            )


def mistagged(
    note: TaskNote, tags: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """(agent, codes of its loops' tags, those that were meant) of agents that have others."""
    for operand in note.operands:
        found = tags.get(operand.agent, ())
        if operand.tags and found and found != operand.tags:
            yield operand.agent, found, operand.tags


def misconfigured(note: TaskNote, words: Mapping[int, int]) -> Iterator[tuple[str, int, int]]:
    """(field, its value, the value that was meant) of registers that hold something else."""
    for address, meant in note.registers:
        word = words.get(address, 0)
        for field in registers("slice").at(address) if word != meant else ():
            if field.get(word) != field.get(meant):
                yield field.name, field.get(word), field.get(meant)


def _difference(operands: Sequence[Operand], reaches: Sequence[Reach]) -> tuple[Ranges, Ranges]:
    """(what is touched and not meant, what is meant and not touched)."""
    touched = ordered(piece for reach in reaches for piece in reach.ranges)
    meant = ordered(piece for operand in operands for piece in operand.ranges)
    exact = all(operand.exact for operand in operands)
    extra, missing = without(touched, meant), without(meant, touched) if exact else ()
    if extra or missing:
        return extra, missing
    touched = ordered(piece for reach in reaches for piece in reach.unmoved)
    meant = ordered(piece for operand in operands for piece in operand.unmoved)
    return without(touched, meant), without(meant, touched)
