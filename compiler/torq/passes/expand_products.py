"""Products of 32 bits by 32 bits, in terms of products of 16 bits."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...graph.elements import LIMITS, Array, dense_of
from ..hl.elementwise import Elementwise, Mul, Scale
from ..hl.moves import Const
from ..hl.operation import HlOp
from ..hl.types import tensor_of
from ..legalise.builder import identity
from ..operators.quantisation import Rescale
from .base import HlPass, insert, replace

_LIMB = 15
"""Bits of the lower parts of a factor: so many that products of two fit 32 bits twice."""
_SHIFTS = (30, 31)
_Limbs = list[SSAValue]


class ExpandProducts(HlPass):
    """Makes products of int32 from what the NPU multiplies.

    Powers of two shift. Of what is shifted right by 30 or 31 bits, each factor is taken apart into
    three parts of 15 bits, and products of parts are summed from the lowest one up.

    Before:
        %0 = torq_hl.const {values = dense<4> : tensor<8xi32>} : tensor<8xi32>
        %1 = torq_hl.mul %x, %0 {way = "direct"} : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    After:
        %0 = torq_hl.const {values = dense<2> : tensor<8xi32>} : tensor<8xi32>
        %1 = torq_hl.elementwise %x, %0 {way = "general", kind = "LSL"}
            : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    """

    name: ClassVar[str] = "expand-products"

    def run(self, block: Block) -> None:
        """One look at each product; factors that are used again are taken apart once."""
        parts: dict[SSAValue, _Limbs] = {}
        for op in list(block.ops):
            if isinstance(op, Mul) and _is_wide(op):
                if op.field("rescale") is None:
                    _shift(op)
                elif _right_shift(op.field("rescale")) in _SHIFTS:
                    _expand(op, parts)


def _is_wide(op: Mul) -> bool:
    dtypes = {tensor_of(value).dtype for value in (op.a, op.b, op.y)}
    return dtypes == {"int32"} and not (op.field("a_zp") or op.field("b_zp"))


def _right_shift(scaling: Rescale) -> int:
    """How far a scaling shifts that does nothing else; 0 of all others."""
    plain = (scaling.multipliers, scaling.zero_point, scaling.low, scaling.high)
    if plain != ((1,), 0, *LIMITS["int32"]) or len(scaling.shifts) != 1:
        return 0
    return scaling.shifts[0]


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


def _expand(op: Mul, parts: dict[SSAValue, _Limbs]) -> None:
    """A product that is shifted right, rounded, and limited to 32 bits."""
    shift = _right_shift(op.field("rescale"))
    for value in (op.a, op.b):
        if value not in parts:
            parts[value] = _limbs(op, value)
    a, b = parts[op.a], parts[op.b]
    sums = [
        [_emit(op, Mul, [a[i], b[k - i]]) for i in range(3) if 0 <= k - i < 3] for k in range(5)
    ]
    half = _number(op, 1 << (shift - 1 - _LIMB))
    carry = _high(op, sums[0][0])
    second = _total(op, [*sums[1], carry, half])
    third = _total(op, [*sums[2], _high(op, second)])
    fourth = _total(op, [*sums[3], _high(op, third)])
    top = _total(op, [*sums[4], _high(op, fourth)])
    if shift == 2 * _LIMB:
        top = _elements(op, "MIN", top, _number(op, 3))  # 4 would not fit
    low = _total(
        op,
        [
            _elements(op, "LSL", _low(op, fourth), _number(op, 3 * _LIMB - shift)),
            _elements(op, "ASR", _low(op, third), _number(op, shift - 2 * _LIMB)),
        ],
    )
    # Half of the highest part at a time: so a sum beyond 32 bits is limited once, at the end.
    high = _elements(op, "LSL", top, _number(op, 4 * _LIMB - 1 - shift))
    replace(op, _total(op, [low, high, high]))


def _limbs(op: Mul, value: SSAValue) -> _Limbs:
    """Bits 0 to 14, 15 to 29, and what is above, as int16."""
    middle = _low(op, _high(op, value))
    top = _elements(op, "ASR", value, _number(op, 2 * _LIMB))
    kind = op.type.like(dtype="int16")
    return [
        _emit(op, Scale, [part], kind=kind, rescale=identity("int16"))
        for part in (_low(op, value), middle, top)
    ]


def _low(op: Mul, value: SSAValue) -> SSAValue:
    return _elements(op, "BAND", value, _number(op, (1 << _LIMB) - 1))


def _high(op: Mul, value: SSAValue) -> SSAValue:
    return _elements(op, "ASR", value, _number(op, _LIMB))


def _total(op: Mul, values: list[SSAValue]) -> SSAValue:
    total, *rest = values
    for value in rest:
        total = _elements(op, "ADD", total, value)
    return total


def _elements(op: Mul, what: str, a: SSAValue, b: SSAValue) -> SSAValue:
    kind = op.type.like()
    return insert(op, Elementwise, [a, b], kind, way="general", kind=what)


def _emit(
    op: Mul, what: type[HlOp], operands: list[SSAValue], *, kind: Any = None, **fields: Any
) -> SSAValue:
    return insert(op, what, operands, kind or op.type.like(), way="general", **fields)


def _number(op: Mul, value: int) -> SSAValue:
    return _const(op, np.broadcast_to(np.int32(value), op.type.shape))


def _const(op: Mul, array: Array) -> SSAValue:
    values = dense_of(array, "int32")
    return insert(op, Const, [], op.type.like(), way="", values=values)
