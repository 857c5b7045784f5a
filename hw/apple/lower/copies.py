"""Asynchronous copies of a simdgroup: which accesses are theirs, and what is free because of that.

One instruction starts a copy, and an engine beside the core moves the bytes, while the simdgroup
goes on until it waits. The emulation copies in a loop of the lanes instead. Its accesses, which are
marked (`assay.sim.simt.read.marks`), stand for the engine's; what the loop computes besides,
and its branches, do not exist on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.sim.simt.ir.nodes import Instruction, Value
from assay.sim.simt.ir.operations.conversions import BITCAST
from assay.sim.simt.ir.operations.functions import COPIED_FROM, COPIED_TO, COPY
from assay.sim.simt.ir.operations.memory import COMPONENT, STORE
from assay.sim.simt.ir.operations.operation import Operation
from assay.sim.simt.ir.operations.synchronisation import FENCE, SIMDGROUP_BARRIER

from .classes import COPY_START, COPY_WAIT

_CLASSES = {FENCE: COPY_START, SIMDGROUP_BARRIER: COPY_WAIT}
_PARTS = frozenset({COMPONENT, BITCAST})


def copied_accesses(instructions: Iterable[Instruction]) -> frozenset[Value]:
    """The loads and stores of asynchronous copies."""
    found: set[Value] = set()
    for i in instructions:
        if i.operation is STORE and any(_is_mark(value, COPIED_TO) for value in i.operands[1:]):
            found.add(i)
        elif _is_mark(i, COPIED_FROM):
            found |= {_access_of(operand) for operand in i.operands}
    return frozenset(found)


def copy_class(i: Instruction) -> str:
    """The class of a fence that starts a copy or a barrier that waits for copies; else ""."""
    if not i.operands or not _is_mark(i.operands[0], COPY):
        return ""
    return _CLASSES.get(i.operation, "")


def _access_of(value: Value) -> Value:
    """The load behind a part of it, or behind what its bits are taken for."""
    while isinstance(value, Instruction) and value.operation in _PARTS:
        value = value.operands[0]
    return value


def _is_mark(value: Value, mark: Operation) -> bool:
    return isinstance(value, Instruction) and value.operation is mark
