"""Programs whose tasks are not in blocks yet, as TorqHW and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from xdsl.ir import Operation

from assay.compiler.torq.blocks import Binding, Unpacked
from assay.compiler.torq.hw.executable import (
    ArgumentOp,
    ExecutableOp,
    NotesOp,
    SegmentOp,
)
from assay.compiler.torq.hw.nss_program import NssProgramOp, TaskOps
from assay.compiler.torq.hw.slices import SliceProgramOp
from assay.compiler.torq.slice.tensor import Tensor
from assay.hw.torq.notes import NO_NOTES, Notes, Symbol, TaskNote
from assay.hw.torq.words.commands import NssTask

from ...status import StatusError
from ..format import Segment
from ..notes_json import dumps, loads
from .lift import Lifter
from .loaded import Loaded
from .memory import Memory, segment_op
from .names import Names
from .records import record_of, record_op


@dataclass(frozen=True, kw_only=True)
class _Argument:
    """A tensor of the caller's: `caller_dtype` and `caller_shape` are what it is to the caller."""

    name: str
    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_output: bool = False
    caller_dtype: str = ""
    caller_shape: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Rest:
    """What else there is to know for making blocks."""

    end: int
    block_tasks: int = 0
    program_blocks: int = 0


_REST = tuple(field.name for field in fields(_Rest))


def unpacked_op(given: Unpacked, title: str) -> ExecutableOp:
    """The program as an operation; its NSS program has no blocks."""
    callers = [
        Symbol(name=b.name, memory="XRAM", start=b.address, stop=b.address + b.size)
        for b in given.bindings
    ]
    names = Names(given.notes, callers)
    segments = [Segment(address=at, size=len(data), data=data) for at, data in given.segments]
    lifter = Lifter(Loaded(segments, given.notes.hardware), names, given.notes)
    program = NssProgramOp.made(list(lifter.task_ops(given.tasks, TaskOps())))
    noted = replace(given.notes, transfers=tuple(t.note for t in given.tasks if t.note))
    ops: list[Operation] = [
        *names.ops(),
        *(record_op(ArgumentOp, _argument(binding)) for binding in given.bindings),
        *(segment_op(s.address, s.size, s.data, lifter.covered) for s in segments),
        *(op for _, op in sorted(lifter.programs.items())),
        program,
        NotesOp.made(dumps(noted).decode()),
    ]
    rest = tuple((name, value) for name in _REST if (value := getattr(given, name)))
    return ExecutableOp.made(title, rest, ops)


def _argument(binding: Binding) -> _Argument:
    tensor = binding.tensor
    dtype, shape = binding.caller or ("", ())
    return _Argument(
        name=binding.name,
        address=binding.address,
        dtype=tensor.dtype,
        shape=tensor.shape,
        strides=tensor.strides,
        is_output=binding.is_output,
        caller_dtype=dtype,
        caller_shape=shape,
    )


def unpacked_of(op: ExecutableOp, name: str = "module") -> Unpacked:
    """The program. Raises StatusError."""
    try:
        return _unpacked(op, name)
    except ValueError as error:
        raise StatusError("INVALID_ARGUMENT", f"{name}: {error}") from None


def _unpacked(op: ExecutableOp, name: str) -> Unpacked:
    ops = list(op.body.block.ops)
    symbols = op.symbols()
    memory = Memory([each for each in ops if isinstance(each, SegmentOp)])
    tasks: list[NssTask] = []
    for each in ops:
        if isinstance(each, SliceProgramOp):
            memory.slice_program(each, symbols)
        elif isinstance(each, NssProgramOp):
            blocks = each.blocks(symbols)
            if any(block.place is not None for block in blocks):
                raise ValueError("its tasks are in blocks already")
            tasks += [task for block in blocks for task in block.tasks]
    texts = [each.text.data for each in ops if isinstance(each, NotesOp)]
    notes = loads(texts[0].encode(), name) if texts and texts[0] else NO_NOTES
    arguments = [record_of(_Argument, o.given) for o in ops if isinstance(o, ArgumentOp)]
    rest = record_of(_Rest, op.fields.data)
    return Unpacked(
        tasks=_noted(tasks, notes.transfers),
        segments=[(s.address, s.data) for s in memory.segments() if isinstance(s.data, bytes)],
        bindings=[_binding(argument) for argument in arguments],
        end=rest.end,
        notes=_without_transfers(notes),
        block_tasks=rest.block_tasks,
        program_blocks=rest.program_blocks,
    )


def _without_transfers(notes: Notes) -> Notes:
    """Transfers are noted by the tasks that start them."""
    return replace(notes, transfers=())


def _noted(tasks: Sequence[NssTask], notes: Sequence[TaskNote]) -> list[NssTask]:
    """Tasks with the notes of their transfers."""
    left = list(reversed(notes))
    return [
        replace(task, note=left.pop())
        if left and (task.dma_xr_start or task.dma_xw_start)
        else task
        for task in tasks
    ]


def _binding(given: _Argument) -> Binding:
    known = bool(given.caller_dtype)
    tensor = Tensor(
        name=given.name, address=0, dtype=given.dtype, shape=given.shape, strides=given.strides
    )
    if len(given.shape) != len(given.strides):
        raise ValueError(f"argument {given.name} has not one stride for each dimension")
    return Binding(
        name=given.name,
        address=given.address,
        tensor=tensor,
        is_output=given.is_output,
        caller=(given.caller_dtype, given.caller_shape) if known else None,
    )
