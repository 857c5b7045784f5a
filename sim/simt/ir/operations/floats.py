"""Arithmetic on floating-point numbers; NaN and signs of zero as IEEE 754 has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..meaning import ieee
from .operation import OfOperands, Operation, Origin, Types


def _row(
    name: str,
    types: str,
    compute: Callable[[str, Sequence[int]], int],
    *,
    makes_nan: bool = True,
) -> Operation:
    """An operation whose meaning is a function of the operands' type and bits."""

    def meaning(types: Types, operands: Sequence[int]) -> int:
        return compute(types.source, operands)

    return Operation(
        name=name,
        origin=Origin.INTRINSIC if name.startswith("llvm.") else Origin.INSTRUCTION,
        types=types,
        meaning=OfOperands(meaning),
        makes_nan=makes_nan,
    )


def _binary(name: str, compute: Callable[[float, float], float]) -> Operation:
    return _row(name, "F F -> F", lambda type, o: ieee.binary(compute, o[0], o[1], type))


FADD = _binary("fadd", lambda a, b: a + b)
FSUB = _binary("fsub", lambda a, b: a - b)
FMUL = _binary("fmul", lambda a, b: a * b)
FDIV = _binary("fdiv", ieee.divide)
FREM = _binary("frem", ieee.remainder)
FMA = _row("llvm.fma", "F F F -> F", lambda type, o: ieee.fma(o[0], o[1], o[2], type))
SQRT = _row("llvm.sqrt", "F -> F", lambda type, o: ieee.square_root(o[0], type))
CANONICALIZE = _row(
    "llvm.canonicalize", "F -> F", lambda type, o: ieee.encode(ieee.decode(o[0], type), type)
)

FNEG = _row("fneg", "F -> F", lambda type, o: o[0] ^ ieee.FORMATS[type].sign, makes_nan=False)
FABS = _row("llvm.fabs", "F -> F", lambda type, o: o[0] & ~ieee.FORMATS[type].sign, makes_nan=False)
COPYSIGN = _row(
    "llvm.copysign",
    "F F -> F",
    lambda type, o: o[0] & ~ieee.FORMATS[type].sign | o[1] & ieee.FORMATS[type].sign,
    makes_nan=False,
)


def _rounding(name: str, compute: Callable[[float], int]) -> Operation:
    return _row(name, "F -> F", lambda type, o: ieee.round_to_integral(compute, o[0], type))


FLOOR = _rounding("llvm.floor", ieee.floor)
CEIL = _rounding("llvm.ceil", ieee.ceil)
FTRUNC = _rounding("llvm.trunc", ieee.trunc)
RINT = _rounding("llvm.rint", round)
NEARBYINT = _rounding("llvm.nearbyint", round)
ROUNDEVEN = _rounding("llvm.roundeven", round)
ROUND = _rounding("llvm.round", ieee.half_away)


def _extreme(name: str, *, smallest: bool, nan_wins: bool, makes_nan: bool = True) -> Operation:
    def compute(type: str, operands: Sequence[int]) -> int:
        both = (operands[0], operands[1])
        return ieee.choose(both, type, smallest=smallest, nan_wins=nan_wins)

    return _row(name, "F F -> F", compute, makes_nan=makes_nan)


MINNUM = _extreme("llvm.minnum", smallest=True, nan_wins=False, makes_nan=False)
MAXNUM = _extreme("llvm.maxnum", smallest=False, nan_wins=False, makes_nan=False)
MINIMUMNUM = _extreme("llvm.minimumnum", smallest=True, nan_wins=False)
MAXIMUMNUM = _extreme("llvm.maximumnum", smallest=False, nan_wins=False)
MINIMUM = _extreme("llvm.minimum", smallest=True, nan_wins=True)
MAXIMUM = _extreme("llvm.maximum", smallest=False, nan_wins=True)


def _compare(types: Types, operands: Sequence[int]) -> int:
    return int(ieee.compare(types.predicate, operands[0], operands[1], types.source))


FCMP = Operation(
    name="fcmp", origin=Origin.INSTRUCTION, types="F F -> i1", meaning=OfOperands(_compare)
)
IS_FPCLASS = _row(
    "llvm.is.fpclass",
    "F #i32 -> i1",
    lambda type, o: int(ieee.in_class(o[0], type, o[1])),
)
