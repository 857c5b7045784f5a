"""Operands as kernels want them: of the result's shape, without zero points."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import dense_of
from ..hl.elementwise import Add, Elementwise, Mul, Scale, Select
from ..hl.moves import Broadcast, Const
from ..hl.operation import HlOp
from ..hl.products import MatMul
from ..hl.types import tensor_of
from ..legalise.builder import identity
from .base import HlPass, insert, replace
from .fold_scales import remade

_ALIKE = (Add, Mul, Elementwise, Select)


class ExpandBroadcasts(HlPass):
    """Repeats operands that have one step where the result has more.

    Before:
        %0 = torq_hl.mul %a, %b : (tensor<2x8xi8>, tensor<2x1xi8>) -> tensor<2x8xi32>
    After:
        %0 = torq_hl.broadcast %b : (tensor<2x1xi8>) -> tensor<2x8xi8>
        %1 = torq_hl.mul %a, %0 : (tensor<2x8xi8>, tensor<2x8xi8>) -> tensor<2x8xi32>
    """

    name: ClassVar[str] = "expand-broadcasts"

    def run(self, block: Block) -> None:
        """One look at each operation on several tensors."""
        made: dict[tuple[SSAValue, tuple[int, ...]], SSAValue] = {}
        for op in list(block.ops):
            if isinstance(op, _ALIKE):
                for index, operand in enumerate(op.operands):
                    if tensor_of(operand).shape != op.type.shape:
                        key = (operand, op.type.shape)
                        if key not in made:
                            made[key] = _repeated(op, operand)
                        op.operands[index] = made[key]


def _repeated(op: HlOp, operand: SSAValue) -> SSAValue:
    kind, shape = tensor_of(operand), op.type.shape
    wanted = kind.like(shape=shape, layout=op.type.layout)
    owner = operand.owner
    if isinstance(owner, Const):
        values = dense_of(np.broadcast_to(owner.array, shape), kind.dtype)
        return insert(op, Const, [], wanted, way="", values=values)
    return insert(op, Broadcast, [operand], wanted)


class SplitZeroPoints(HlPass):
    """Takes zero points away before matrices are multiplied, in 16 bits.

    Before:
        %0 = torq_hl.matmul %a, %b {a_zp = 3 : i64}
            : (tensor<1x4x8xi8>, tensor<1x8x4xi8>) -> tensor<1x4x4xi32>
    After:
        %0 = torq_hl.scale %a
            {input_zp = 3 : i64, rescale = #torq_hl.rescale<[1], [0], zp 0, range -32768 to 32767>}
            : (tensor<1x4x8xi8>) -> tensor<1x4x8xi16>
        %1 = torq_hl.matmul %0, %b : (tensor<1x4x8xi16>, tensor<1x8x4xi8>) -> tensor<1x4x4xi32>
    """

    name: ClassVar[str] = "split-zero-points"

    def run(self, block: Block) -> None:
        """One look at each product."""
        for op in list(block.ops):
            if isinstance(op, MatMul) and (op.field("a_zp") or op.field("b_zp")):
                zeros = op.field("a_zp"), op.field("b_zp")
                operands = [
                    _without(op, value, zero)
                    for value, zero in zip(op.operands, zeros, strict=True)
                ]
                made = remade(op, op, op.type, a_zp=0, b_zp=0)
                for key in ("a_zp", "b_zp"):
                    made.owner.properties.pop(key, None)
                made.owner.operands = operands
                replace(op, made)


def _without(op: HlOp, value: SSAValue, zero: int) -> SSAValue:
    if not zero:
        return value
    y = tensor_of(value).like(dtype="int16")
    return insert(op, Scale, [value], y, input_zp=zero, rescale=identity("int16"))
