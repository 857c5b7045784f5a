"""Arithmetic on integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..llvm_types import bits
from ..meaning import scalars
from ..meaning.scalars import signed
from .operation import OfOperands, Operation, Origin, Types, Uninitialised


def _binary(
    name: str,
    compute: Callable[[int, int, int], int],
    uninitialised: Uninitialised = Uninitialised.SPREADS,
) -> Operation:
    """An operation of two operands and their width; the result is taken modulo 2**width."""

    def meaning(types: Types, operands: Sequence[int]) -> int:
        width = bits(types.result)
        return compute(operands[0], operands[1], width) & (1 << width) - 1

    return Operation(
        name=name,
        origin=_origin(name),
        types="I I -> I",
        meaning=OfOperands(meaning),
        uninitialised=uninitialised,
        makes_nan=_makes_nan(name),
    )


def _unary(name: str, compute: Callable[[int, int], int]) -> Operation:
    """An operation of one operand and its width."""

    def meaning(types: Types, operands: Sequence[int]) -> int:
        width = bits(types.result)
        return compute(operands[0], width) & (1 << width) - 1

    return Operation(
        name=name,
        origin=_origin(name),
        types="I -> I",
        meaning=OfOperands(meaning),
        makes_nan=_makes_nan(name),
    )


def _makes_nan(name: str) -> bool:
    """Intrinsics are what headers take floats apart and put them together with."""
    return _origin(name) is Origin.INTRINSIC


def _origin(name: str) -> Origin:
    return Origin.INTRINSIC if name.startswith("llvm.") else Origin.INSTRUCTION


ADD = _binary("add", lambda a, b, w: a + b)
SUB = _binary("sub", lambda a, b, w: a - b)
MUL = _binary("mul", lambda a, b, w: a * b)
UDIV = _binary("udiv", lambda a, b, w: a // b if b else 0)
UREM = _binary("urem", lambda a, b, w: a % b if b else a)
SDIV = _binary("sdiv", scalars.signed_divide)
SREM = _binary("srem", scalars.signed_remainder)
SHL = _binary("shl", lambda a, b, w: a << b % w, Uninitialised.IN_PARTS)
LSHR = _binary("lshr", lambda a, b, w: a >> b % w, Uninitialised.IN_PARTS)
ASHR = _binary("ashr", lambda a, b, w: signed(a, w) >> b % w)
AND = _binary("and", lambda a, b, w: a & b, Uninitialised.DECIDES_ALONE)
OR = _binary("or", lambda a, b, w: a | b, Uninitialised.DECIDES_ALONE)
XOR = _binary("xor", lambda a, b, w: a ^ b)

UMIN = _binary("llvm.umin", lambda a, b, w: min(a, b))
UMAX = _binary("llvm.umax", lambda a, b, w: max(a, b))
SMIN = _binary("llvm.smin", lambda a, b, w: min(signed(a, w), signed(b, w)))
SMAX = _binary("llvm.smax", lambda a, b, w: max(signed(a, w), signed(b, w)))
UADD_SAT = _binary("llvm.uadd.sat", lambda a, b, w: min(a + b, (1 << w) - 1))
USUB_SAT = _binary("llvm.usub.sat", lambda a, b, w: max(a - b, 0))
SADD_SAT = _binary(
    "llvm.sadd.sat", lambda a, b, w: scalars.saturate(signed(a, w) + signed(b, w), w)
)
SSUB_SAT = _binary(
    "llvm.ssub.sat", lambda a, b, w: scalars.saturate(signed(a, w) - signed(b, w), w)
)

CTPOP = _unary("llvm.ctpop", lambda a, w: a.bit_count())
BITREVERSE = _unary("llvm.bitreverse", lambda a, w: int(format(a, f"0{w}b")[::-1], 2))
BSWAP = _unary("llvm.bswap", lambda a, w: int.from_bytes(a.to_bytes(w // 8, "little"), "big"))
CTLZ = _unary("llvm.ctlz", lambda a, w: w - a.bit_length())
CTTZ = _unary("llvm.cttz", lambda a, w: (a & -a).bit_length() - 1 if a else w)
ABS = _unary("llvm.abs", lambda a, w: abs(signed(a, w)))


def _of_types(
    name: str, signature: str, compute: Callable[[Types, Sequence[int]], int]
) -> Operation:
    return Operation(
        name=name,
        origin=_origin(name),
        types=signature,
        meaning=OfOperands(compute),
        makes_nan=_makes_nan(name),
    )


FSHL = _of_types(
    "llvm.fshl", "I I I -> I", lambda types, o: scalars.funnel_left(o, bits(types.result))
)
FSHR = _of_types(
    "llvm.fshr", "I I I -> I", lambda types, o: scalars.funnel_right(o, bits(types.result))
)
UCMP = _of_types("llvm.ucmp", "I I -> J", lambda types, o: scalars.order(o[0], o[1], types.result))


def _signed_order(types: Types, operands: Sequence[int]) -> int:
    a, b = (signed(operand, bits(types.source)) for operand in operands)
    return scalars.order(a, b, types.result)


def _compare(types: Types, operands: Sequence[int]) -> int:
    left, right = operands
    return int(scalars.compare(types.predicate, left, right, bits(types.source)))


SCMP = _of_types("llvm.scmp", "I I -> J", _signed_order)
ICMP = _of_types("icmp", "I I -> i1", _compare)
