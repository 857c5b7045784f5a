"""Products of 32 bits by powers of two."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import Array, dense_of
from ..hl.elementwise import Elementwise, Mul
from ..hl.moves import Const
from ..hl.types import tensor_of
from .base import HlPass, insert, replace


class ShiftProducts(HlPass):
    """Shifts int32 where a product with powers of two would, which is not shifted right.

    Before:
        %0 = torq_hl.const {values = dense<4> : tensor<8xi32>} : tensor<8xi32>
        %1 = torq_hl.mul %x, %0 {way = "direct"} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    After:
        %0 = torq_hl.const {values = dense<2> : tensor<8xi32>} : tensor<8xi32>
        %1 = torq_hl.elementwise %x, %0 {way = "general", kind = "LSL"}
            : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    """

    name: ClassVar[str] = "shift-products"

    def run(self, block: Block) -> None:
        """One look at each product."""
        for op in list(block.ops):
            if isinstance(op, Mul) and _is_wide(op) and op.field("rescale") is None:
                _shift(op)


def _is_wide(op: Mul) -> bool:
    dtypes = {tensor_of(value).dtype for value in (op.a, op.b, op.y)}
    return dtypes == {"int32"} and not (op.field("a_zp") or op.field("b_zp"))


def _shift(op: Mul) -> None:
    """A product with a power of two."""
    for value, other in ((op.a, op.b), (op.b, op.a)):
        owner = other.owner
        if not isinstance(owner, Const):
            continue
        factors = np.unique(owner.array)
        if all(f > 0 and not f & (f - 1) for f in factors.tolist()):
            bits = np.log2(owner.array.astype(np.float64)).astype(np.int32)
            replace(op, _elements(op, "LSL", value, _const(op, bits)))
            return


def _elements(op: Mul, what: str, a: SSAValue, b: SSAValue) -> SSAValue:
    kind = op.type.like()
    return insert(op, Elementwise, [a, b], kind, way="general", kind=what)


def _const(op: Mul, array: Array) -> SSAValue:
    values = dense_of(array, "int32")
    return insert(op, Const, [], op.type.like(), way="", values=values)
