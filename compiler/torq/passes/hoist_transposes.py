"""Channels first as early as can be: what stands before a transpose of the image follows it."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..hl.elementwise import Clamp, Scale, Table, Unary
from ..hl.moves import Pad, Transpose
from ..hl.operation import HlOp
from ..hl.types import tensor_of
from ..operators.tensors import Layout
from .base import HlPass, insert, producer, replace, used_once
from .fold_scales import remade
from .planes import TO_PLANES, in_planes, reordered

_ONE_OPERAND = (Clamp, Pad, Scale, Table, Unary)


class HoistTransposes(HlPass):
    """Moves transposes to planes in front of what is done to an argument, where DMA can do them.

    Before:
        %0 = torq_hl.pad %x {before = array<i64: 0, 1, 2, 0>, after = array<i64: 0, 0, 0, 0>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x5x6x8xi8>
        %1 = torq_hl.transpose %0 {order = array<i64: 0, 3, 1, 2>}
            : (tensor<1x5x6x8xi8>) -> tensor<1x8x5x6xi8, planes>
    After:
        %0 = torq_hl.transpose %x {order = array<i64: 0, 3, 1, 2>}
            : (tensor<1x4x4x8xi8>) -> tensor<1x8x4x4xi8, planes>
        %1 = torq_hl.pad %0 {before = array<i64: 0, 0, 1, 2>, after = array<i64: 0, 0, 0, 0>}
            : (tensor<1x8x4x4xi8, planes>) -> tensor<1x8x5x6xi8, planes>
    """

    name: ClassVar[str] = "hoist-transposes"

    def run(self, block: Block) -> None:
        """One look at each transpose."""
        for op in list(block.ops):
            if isinstance(op, Transpose) and op.field("order") == TO_PLANES:
                _hoist(op)


def _hoist(op: Transpose) -> None:
    chain: list[HlOp] = []
    value = op.x
    while (below := producer(value)) is not None and _may_follow(below, value):
        assert isinstance(below, HlOp)
        chain.append(below)
        value = below.operands[0]
    if not chain or not isinstance(value, BlockArgument) or op.type.layout is not Layout.PLANES:
        return
    if tensor_of(value).layout is not Layout.ROWS:
        return
    made = insert(op, Transpose, [value], in_planes(tensor_of(value)), way="", order=TO_PLANES)
    for one in reversed(chain):
        again = remade(one, op, in_planes(one.type), **reordered(one))
        again.owner.operands = [made]
        made = again
    replace(op, made)


def _may_follow(op: Operation, value: SSAValue) -> bool:
    """Whether an operation can be done on planes, and nobody else wants its rows."""
    return (
        isinstance(op, _ONE_OPERAND)
        and used_once(value)
        and len(op.operands) == 1
        and len(op.type.shape) == 4
        and op.type.layout is Layout.ROWS
    )
