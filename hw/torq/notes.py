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
class OperatorNote:
    """What a compiler expects of an operator of the model; cycles are those of the unit alone.

    Attributes:
        name: as tasks name it in `source`.
        way: how it came to the NPU, direct or general; empty if nobody said.
        macs: products that it sums, without padding.
        slices: cycles of its tasks on both slices together.
        loads, stores: cycles of its transfers; those of its commands are among loads.
        loaded, stored: bytes of them.
        lram: bytes of LRAM that its tensors, constants and commands are in, at any time.
    """

    name: str
    way: str = ""
    macs: int = 0
    slices: int = 0
    loads: int = 0
    stores: int = 0
    loaded: int = 0
    stored: int = 0
    lram: int = 0


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
        operators: the model's, in the order of the program.
        hardware: the NPU that it was made for, as `Hardware.sizes` has it. Empty if nobody said.
        cycles: of the whole run, as its compiler expects them; 0 if it does not say.
        lram_peak: the most bytes of LRAM that buffers have at a time; 0 if nobody said.
    """

    symbols: tuple[Symbol, ...] = ()
    padding: tuple[tuple[str, int, int], ...] = ()
    slice_programs: Mapping[int, tuple[TaskNote, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    slice_runs: tuple[SliceRun, ...] = ()
    transfers: tuple[TaskNote, ...] = ()
    places: tuple[Symbol, ...] = ()
    operators: tuple[OperatorNote, ...] = ()
    hardware: str = ""
    cycles: int = 0
    lram_peak: int = 0


NO_NOTES = Notes()
