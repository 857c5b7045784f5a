"""What a compiler knows of a program beside its words: names, operations, what each task touches.

Checks compare it with what the words do; nothing of it is encoded, and no program needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Ranges = tuple[tuple[int, int], ...]
"""(start, stop) of bytes, apart and in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """What one agent of a task is meant to touch.

    Attributes:
        agent: its name, `DEDR` or `DIXR`.
        tensor: what the bytes are called.
        memory: LRAM or XRAM.
        ranges: all bytes of all its transfers; those of words that are fetched whole, too.
        exact: whether it touches just these. If not, it stays inside of them.
        tags: codes of its descriptors' loops, innermost first; empty if they are not known.
        unmoved: if offsets in memory say where, what it would touch if all of them were 0.
    """

    agent: str
    tensor: str
    memory: str
    ranges: Ranges
    exact: bool = True
    unmoved: Ranges = ()
    tags: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNote:
    """What one slice task or one transfer is for.

    Attributes:
        operation: what it does to which tensor: `conv2d of y`, `load x`.
        source: the operation of the model that it comes from; empty if nobody said.
        operands: one or more for every agent that touches memory.
        registers: (address, word) of what a slice's registers have to hold when the task starts.
    """

    operation: str = ""
    source: str = ""
    operands: tuple[Operand, ...] = ()
    registers: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.operation} ({self.source})" if self.source else self.operation


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRun:
    """A start of a slice: `unit` is its name, `address` that of its program's words in LRAM."""

    unit: str
    address: int
    tasks: tuple[TaskNote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A name for the bytes `start` to `stop` of a memory."""

    name: str
    memory: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What is known of a whole program.

    Attributes:
        symbols: what is where.
        padding: (memory, start, stop) of gaps that nobody need read.
        slice_programs: the tasks of each slice program, by the LRAM address of its words.
        slice_runs: every start of a slice in the order of the command stream, in place of
            `slice_programs` where programs are loaded over others.
        transfers: every start of XR and XW, in the order of the command stream.
        places: what the host puts into XRAM or takes from there: initialised data, and the
            caller's buffers. Empty if nobody said.
    """

    symbols: tuple[Symbol, ...] = ()
    padding: tuple[tuple[str, int, int], ...] = ()
    slice_programs: Mapping[int, tuple[TaskNote, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    slice_runs: tuple[SliceRun, ...] = ()
    transfers: tuple[TaskNote, ...] = ()
    places: tuple[Symbol, ...] = ()


NO_NOTES = Notes()
