"""Reductions as kernels want them: of the middle one of three axes, with not too many steps."""

from __future__ import annotations

import math
from typing import ClassVar

from xdsl.ir import Block, SSAValue

from assay.hw.torq.facts.machine import limit

from ...graph.elements import is_float
from ..hl.moves import Concat, Slice, View
from ..hl.reductions import Reduce
from ..hl.types import tensor_of
from .base import HlPass, insert, replace

_MOST_STEPS = limit("block_steps")
_PART_STEPS = 1 << 12
"""Of each part of an axis with more."""
_IN_PARTS = ("sum", "max", "min", "all", "any", "band", "bor", "bxor")
"""What the reductions of parts can be reduced to."""


class FlattenReductions(HlPass):
    """Sees tensors that are reduced as three axes, which can be cut before and behind the middle.

    Axes with more steps than a kernel takes are reduced part by part.

    Before:
        %0 = torq_hl.reduce %x {kind = "max", axis = 3 : i64}
            : (tensor<2x4x6x8xi8>) -> tensor<2x4x6x1xi8>
    After:
        %0 = torq_hl.view %x : (tensor<2x4x6x8xi8>) -> tensor<48x8x1xi8>
        %1 = torq_hl.reduce %0 {kind = "max", axis = 1 : i64}
            : (tensor<48x8x1xi8>) -> tensor<48x1x1xi8>
        %2 = torq_hl.view %1 : (tensor<48x1x1xi8>) -> tensor<2x4x6x1xi8>
    """

    name: ClassVar[str] = "flatten-reductions"

    def run(self, block: Block) -> None:
        """One look at each reduction."""
        for op in list(block.ops):
            if isinstance(op, Reduce) and not _is_flat(op):
                _flatten(op)


def _is_flat(op: Reduce) -> bool:
    shape = tensor_of(op.x).shape
    middle = op.field("axis") == 1 and (len(shape) == 2 or len(shape) == len(op.type.shape) == 3)
    return middle and not _is_parted(op, shape[1])


def _is_parted(op: Reduce, steps: int) -> bool:
    """Whether an axis of so many steps is reduced part by part, which rounds no float twice."""
    kind, y = op.field("kind"), op.type.dtype
    exact = kind in _IN_PARTS and not is_float(y) and (kind != "sum" or y == "int32")
    return steps > _MOST_STEPS and exact


def _flatten(op: Reduce) -> None:
    kind, axis = tensor_of(op.x), op.field("axis")
    before, behind = math.prod(kind.shape[:axis]), math.prod(kind.shape[axis + 1 :])
    x = _view(op, op.x, (before, kind.shape[axis], behind))
    replace(op, _view(op, _reduced(op, x), op.type.shape))


def _view(op: Reduce, x: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    kind = tensor_of(x)
    return x if kind.shape == shape else insert(op, View, [x], kind.like(shape=shape), way="")


def _reduced(op: Reduce, x: SSAValue) -> SSAValue:
    """The middle one of three axes, which stays with one step."""
    kind = tensor_of(x)
    before, steps, behind = kind.shape
    if _is_parted(op, steps):
        return _reduced(op, _in_parts(op, x))
    y = op.type.like(shape=(before, 1, behind))
    return insert(op, Reduce, [x], y, kind=op.field("kind"), axis=1)


def _in_parts(op: Reduce, x: SSAValue) -> SSAValue:
    """The reductions of parts of the middle axis, one behind the other."""
    kind = tensor_of(x)
    before, steps, behind = kind.shape
    parts = steps // _PART_STEPS
    whole, rest = parts * _PART_STEPS, steps % _PART_STEPS
    rows = _view(op, _part(op, x, 0, whole), (before * parts, _PART_STEPS, behind))
    made = _view(op, _reduced(op, rows), (before, parts, behind))
    if not rest:
        return made
    last = _reduced(op, _part(op, x, whole, rest))
    return insert(op, Concat, [made, last], op.type.like(shape=(before, parts + 1, behind)), axis=1)


def _part(op: Reduce, x: SSAValue, start: int, count: int) -> SSAValue:
    kind = tensor_of(x)
    shape = (kind.shape[0], count, kind.shape[2])
    if shape == kind.shape:
        return x
    return insert(op, Slice, [x], kind.like(shape=shape), starts=(0, start, 0))
