"""Executables as modules in TorqHW, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from assay.compiler.torq.hw.attributes import Fields
from assay.compiler.torq.hw.executable import (
    ActionOp,
    BindingOp,
    BufferOp,
    ExecutableOp,
    HostCodeOp,
    NotesOp,
    SegmentOp,
)
from assay.compiler.torq.hw.nss_program import NssProgramOp
from assay.compiler.torq.hw.slices import SliceProgramOp
from assay.hw.torq.notes import NO_NOTES

from ...status import StatusError
from ..format import (
    ACTIONS,
    Binding,
    BufferInfo,
    BufferType,
    Executable,
    HostCopy,
    StartNss,
)
from ..notes_json import dumps, loads
from .lift import Lifter
from .loaded import Loaded
from .memory import Memory, segment_op
from .names import Names
from .records import record_fields, record_of, record_op

_T = TypeVar("_T")
_ROOT = ("runtime_version", "hw_id", "old_segments")
_WITHOUT_NAMES = ("constants and code", "commands")
"""Places in XRAM that are named by what they hold, not for what it is."""


def module_of(executable: Executable) -> ModuleOp:
    """The listing of an executable. What cannot be read as programs stays bytes, with a remark."""
    return ModuleOp([executable_op(executable)])


def executable_op(executable: Executable) -> ExecutableOp:
    """The same as one operation."""
    notes = executable.notes
    names = Names(notes, [s for s in notes.places if s.name not in _WITHOUT_NAMES])
    lifter = Lifter(Loaded(executable.segments, notes.hardware), names, notes)
    programs = list(_nss_programs(executable, lifter))
    ops: list[Operation] = list(names.ops())
    ops += [record_op(BindingOp, binding) for binding in executable.bindings]
    ops += [record_op(BufferOp, info) for info in executable.buffers]
    ops += [segment_op(s.address, s.size, s.data, lifter.covered) for s in executable.segments]
    ops += [op for _, op in sorted(lifter.programs.items())]
    ops += programs
    ops += [ActionOp.made(type(a).__name__, record_fields(a)) for a in executable.actions]
    if executable.host_code is not None:
        ops.append(HostCodeOp.made(bytes(executable.host_code)))
    if notes != NO_NOTES:
        ops.append(NotesOp.made(dumps(notes).decode()))
    root = tuple((name, getattr(executable, name)) for name in _ROOT)
    usual = {field.name: field.default for field in fields(Executable)}
    given = tuple((name, value) for name, value in root if value != usual[name])
    return ExecutableOp.made(executable.name, given, ops)


def _nss_programs(executable: Executable, lifter: Lifter) -> Iterator[NssProgramOp]:
    for action in executable.actions:
        if isinstance(action, HostCopy) and action.target is BufferType.LRAM:
            follows = action.source is BufferType.XRAM and not action.shape
            if follows and action.binding_index < 0 and action.constant_index < 0:
                size = action.element_bytes
                lifter.loaded.copy(action.source_address, action.target_address, size)
            else:
                lifter.loaded.forget(0, 1 << 24)
        elif isinstance(action, StartNss):
            yield lifter.nss_program(action.address)


def executable_of(module: ModuleOp, name: str = "module") -> Executable:
    """The executable whose listing this is. Raises StatusError."""
    found = [op for op in module.body.block.ops if isinstance(op, ExecutableOp)]
    if len(found) != 1 or len(list(module.body.block.ops)) != 1:
        raise StatusError("INVALID_ARGUMENT", f"{name}: one torq_hw.executable is expected")
    try:
        return _executable(found[0], name)
    except ValueError as error:
        raise StatusError("INVALID_ARGUMENT", f"{name}: {error}") from None


def _executable(op: ExecutableOp, name: str) -> Executable:
    ops = list(op.body.block.ops)
    symbols = op.symbols()
    memory = Memory([each for each in ops if isinstance(each, SegmentOp)])
    for each in ops:
        if isinstance(each, SliceProgramOp):
            memory.slice_program(each, symbols)
        elif isinstance(each, NssProgramOp):
            memory.nss_program(each, symbols)
    host_code = [each.content.data for each in ops if isinstance(each, HostCodeOp)]
    if host_code and host_code[0].data is None:
        raise ValueError("the host's code was left out of this text")
    notes = [each.text.data for each in ops if isinstance(each, NotesOp)]
    return Executable(
        name=op.title.data,
        segments=memory.segments(),
        bindings=tuple(_records(ops, BindingOp, Binding)),
        actions=tuple(_action(each) for each in ops if isinstance(each, ActionOp)),
        buffers=tuple(_records(ops, BufferOp, BufferInfo)),
        host_code=host_code[0].data if host_code else None,
        notes=loads(notes[0].encode(), name) if notes and notes[0] else NO_NOTES,
        **_root(op.fields.data),
    )


def _root(given: Fields) -> dict[str, Any]:
    usual = {field.name: field.default for field in fields(Executable)}
    for name, value in given:
        if name not in _ROOT or type(value) is not type(usual[name]):
            raise ValueError(f"{name} = {value} is no field of an executable")
    return dict(given)


def _records(ops: Sequence[Operation], kind: type, made: Callable[..., _T]) -> Iterator[_T]:
    for op in ops:
        if isinstance(op, kind):
            yield record_of(made, op.given)  # type: ignore[attr-defined]


def _action(op: ActionOp) -> Any:
    kinds = {kind.__name__: kind for kind in ACTIONS}
    if op.kind.data not in kinds:
        raise ValueError(f"there is no action {op.kind.data}; there are {', '.join(kinds)}")
    return record_of(kinds[op.kind.data], op.fields.data)
