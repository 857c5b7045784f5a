"""float32 by its bits: signs, limits and extremes by their order, the rest by integers.

The ALU multiplies bfloat16 and adds float32 up; of float32 there is nothing else that it does.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.tosa import ops
from ..hl.reductions import Reduce
from .builder import GENERAL, Builder, Legaliser, result
from .float32 import Float32
from .integers import Numbers

_SIGN = -(1 << 31)
_REST = (1 << 31) - 1
_SHORT_REST, _SHORT_INFINITY = 0x7FFF, 0x7F80
_COMPARISONS = {"tosa.greater": "GT", "tosa.greater_equal": "GE", "tosa.equal": "EQ"}
_KINDS = {"tosa.maximum": "MAX", "tosa.minimum": "MIN"}


def sign(op: Operation, b: Builder) -> SSAValue:
    """ABS and NEGATE."""
    n = Numbers(b)
    bits = n.integers(b.value(op.operands[0]))
    if ops.name_of(op) == "tosa.abs":
        made = n.combine("BAND", bits, n.number(_REST, bits), "int32")
    else:
        made = n.combine("BXOR", bits, n.number(_SIGN, bits), "int32")
    return n.seen_as(made, "float32")


def clamp(op: Operation, b: Builder) -> SSAValue:
    """CLAMP of numbers; a NaN becomes a limit."""
    n = Numbers(b)
    made = _ordered(n, n.integers(b.value(op.operands[0])))
    for kind, key in (("MAX", "min_val"), ("MIN", "max_val")):
        limit = ops.number(op, key)
        assert limit is not None
        place = int(np.float32(limit).view(np.int32))
        made = n.combine(kind, made, n.number(place ^ (place >> 31 & _REST), made), "int32")
    return n.seen_as(_ordered(n, made), "float32")


def extreme(op: Operation, b: Builder) -> SSAValue:
    """MAXIMUM and MINIMUM of numbers."""
    x, y = (b.value(value) for value in op.operands[:2])
    return extreme_of(Numbers(b), _KINDS[ops.name_of(op)], x, y)


def extreme_of(n: Numbers, kind: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """The MAX or MIN of numbers."""
    first, second = (_ordered(n, n.integers(value)) for value in (x, y))
    return n.seen_as(_ordered(n, n.combine(kind, first, second, "int32")), "float32")


def _ordered(n: Numbers, bits: SSAValue) -> SSAValue:
    """Bits as integers in the order of the numbers, and back: all but the sign of negative ones."""
    signs = n.combine("ASR", bits, n.number(31, bits), "int32")
    rest = n.combine("BAND", signs, n.number(_REST, signs), "int32")
    return n.combine("BXOR", bits, rest, "int32")


def ordered_short(n: Numbers, x: SSAValue) -> SSAValue:
    """bfloat16 as int16 in the order of the numbers; both zeros are 0, and a NaN is above all."""
    bits = n.integers(x)
    signs = n.combine("ASR", bits, n.number(15, bits), "int16")
    rest = n.combine("BAND", signs, n.number(_SHORT_REST, signs), "int16")
    turned = n.combine("SUB", n.combine("BXOR", bits, rest, "int16"), signs, "int16")
    size = n.combine("BAND", bits, n.number(_SHORT_REST, bits), "int16")
    unknown = n.combine("GT", size, n.number(_SHORT_INFINITY, size), "int16", "bool")
    # Numbers of any size above infinity: with those bits set, they are above all.
    above = n.cut(n.unsigned(unknown, "int16"), "int16")
    mask = n.combine("SUB", n.number(0, above), above, "int16")
    kept = n.combine("BAND", turned, n.combine("BXOR", mask, n.number(-1, mask), "int16"), "int16")
    top = n.combine("BAND", mask, n.number(_SHORT_REST, mask), "int16")
    return n.combine("BOR", kept, top, "int16")


def short_of(n: Numbers, places: SSAValue) -> SSAValue:
    """The bfloat16 at places of that order; of what is above all, a NaN."""
    signs = n.combine("ASR", places, n.number(15, places), "int16")
    turned = n.combine("ADD", places, signs, "int16")
    rest = n.combine("BAND", signs, n.number(_SHORT_REST, signs), "int16")
    return n.seen_as(n.combine("BXOR", turned, rest, "int16"), "bfloat16")


def reduce(op: Operation, b: Builder) -> SSAValue:
    """REDUCE_MAX and REDUCE_MIN."""
    n = Numbers(b)
    x = _ordered(n, n.integers(b.value(op.operands[0])))
    kind = ops.name_of(op).removeprefix("tosa.reduce_")
    y = result(op).like(dtype="int32")
    made = b.emit(Reduce, [x], y, kind=kind, axis=ops.integer(op, "axis"))
    return n.seen_as(_ordered(n, made), "float32")


def whole(op: Operation, b: Builder) -> SSAValue:
    """CEIL and FLOOR."""
    up = ops.name_of(op) == "tosa.ceil"
    return Float32(b).floor(b.value(op.operands[0]), up=up)


def arithmetic(op: Operation, b: Builder) -> SSAValue:
    """ADD, SUB and MUL."""
    x, y = (b.value(value) for value in op.operands[:2])
    if ops.name_of(op) == "tosa.mul":
        return Float32(b).multiply(x, y)
    return Float32(b).add(x, y, negate=ops.name_of(op) == "tosa.sub")


def compare(op: Operation, b: Builder) -> SSAValue:
    """GREATER, GREATER_EQUAL and EQUAL."""
    x, y = (b.value(value) for value in op.operands[:2])
    return Float32(b).compare(_COMPARISONS[ops.name_of(op)], x, y)


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tosa.abs": (GENERAL, sign),
    "tosa.negate": (GENERAL, sign),
    "tosa.clamp": (GENERAL, clamp),
    "tosa.maximum": (GENERAL, extreme),
    "tosa.minimum": (GENERAL, extreme),
    "tosa.reduce_max": (GENERAL, reduce),
    "tosa.reduce_min": (GENERAL, reduce),
    **dict.fromkeys(("tosa.ceil", "tosa.floor"), (GENERAL, whole)),
    **dict.fromkeys(("tosa.add", "tosa.sub", "tosa.mul"), (GENERAL, arithmetic)),
    **dict.fromkeys(_COMPARISONS, (GENERAL, compare)),
}
"""By the operator's name, with the way that it goes."""
