"""float32 by its bits, which lie in the order of the numbers: signs, limits and extremes.

The ALU multiplies bfloat16 and adds float32 up; of float32 there is nothing else that it does.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...graph.tosa import ops
from .builder import GENERAL, Builder, Legaliser
from .integers import Numbers

_SIGN = -(1 << 31)
_REST = (1 << 31) - 1
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
    n = Numbers(b)
    sides = [_ordered(n, n.integers(b.value(value))) for value in op.operands[:2]]
    made = n.combine(_KINDS[ops.name_of(op)], sides[0], sides[1], "int32")
    return n.seen_as(_ordered(n, made), "float32")


def _ordered(n: Numbers, bits: SSAValue) -> SSAValue:
    """Bits as integers in the order of the numbers, and back: all but the sign of negative ones."""
    signs = n.combine("ASR", bits, n.number(31, bits), "int32")
    rest = n.combine("BAND", signs, n.number(_REST, signs), "int32")
    return n.combine("BXOR", bits, rest, "int32")


LEGALISERS: dict[str, tuple[str, Legaliser]] = {
    "tosa.abs": (GENERAL, sign),
    "tosa.negate": (GENERAL, sign),
    "tosa.clamp": (GENERAL, clamp),
    "tosa.maximum": (GENERAL, extreme),
    "tosa.minimum": (GENERAL, extreme),
}
"""By the operator's name, with the way that it goes."""
