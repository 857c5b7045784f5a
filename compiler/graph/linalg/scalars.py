"""What operations of arith and math compute, on whole arrays; integers have no sign of their own.

Integers of n bits are kept as NumPy's signed ones, truth values as bool. Operations that take
integers as unsigned say so in their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation

from ..elements import NUMPY, Array
from ..meaning import arithmetic
from ..tosa import ops

Meaning = Callable[[Operation, Sequence[Array]], Array]
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Of arith.cmpi, by their numbers."""
FLOAT_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)
"""Of arith.cmpf, by their numbers."""
_ORDER: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def unsigned(x: Array) -> Array:
    """The same bits as numbers without sign."""
    return x if x.dtype == np.bool_ else x.view(f"u{x.dtype}")


def predicate(op: Operation) -> str:
    """The comparison that arith.cmpi or arith.cmpf makes."""
    names = PREDICATES if ops.name_of(op) == "arith.cmpi" else FLOAT_PREDICATES
    return names[ops.integer(op, "predicate")]


def _as(op: Operation, x: Array) -> Array:
    """As the result's type keeps it: of integers the low bits."""
    dtype = ops.dtype(op.results[0])
    if dtype == "bool":
        return np.asarray(x & 1, np.bool_) if x.dtype != np.bool_ else x
    return np.asarray(x).astype(NUMPY[dtype])


def _integers(function: Callable[..., Array]) -> Meaning:
    def meaning(op: Operation, x: Sequence[Array]) -> Array:
        return _as(op, function(*(arithmetic.wide(each) for each in x)))

    return meaning


def _unsigned(function: Callable[..., Array]) -> Meaning:
    def meaning(op: Operation, x: Sequence[Array]) -> Array:
        return _as(op, function(*(arithmetic.wide(unsigned(each)) for each in x)))

    return meaning


def _floats(function: Callable[..., Array]) -> Meaning:
    """Computed in float32, or float64, and rounded once."""

    def meaning(op: Operation, x: Sequence[Array]) -> Array:
        kind = np.float64 if x[0].dtype == np.float64 else np.float32
        with np.errstate(all="ignore"):
            return _as(op, np.asarray(function(*(each.astype(kind) for each in x))))

    return meaning


def _divide(a: Array, b: Array) -> Array:
    """Towards zero."""
    by = np.where(b == 0, 1, b)
    return np.asarray(np.sign(a) * np.sign(by) * (np.abs(a) // np.abs(by)))


def _remainder(a: Array, b: Array) -> Array:
    return np.asarray(a - _divide(a, b) * np.where(b == 0, 1, b))


def _mul(op: Operation, x: Sequence[Array]) -> Array:
    return _as(op, arithmetic.wide(x[0]) * arithmetic.wide(x[1]))


def _compare(op: Operation, x: Sequence[Array]) -> Array:
    name = predicate(op)
    if name in ("eq", "ne"):
        return np.asarray(_ORDER[name](x[0], x[1]))
    a, b = (unsigned(v) if name.startswith("u") else _signed(v) for v in x)
    return np.asarray(_ORDER[name[1:]](a, b))


def _signed(x: Array) -> Array:
    """Truth as -1."""
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def _compare_floats(op: Operation, x: Sequence[Array]) -> Array:
    with np.errstate(invalid="ignore"):  # NaN that signal are NaN
        a, b = (v.astype(np.float64) for v in x)
    unordered = np.isnan(a) | np.isnan(b)
    name = predicate(op)
    if name in ("true", "false"):
        return np.full(unordered.shape, name == "true")
    if name in ("ord", "uno"):
        return np.asarray(unordered if name == "uno" else ~unordered)
    found = _ORDER["ne" if name == "one" else name[1:]](a, b)
    return np.asarray(found | unordered if name[0] == "u" else found & ~unordered)


def _select(op: Operation, x: Sequence[Array]) -> Array:
    return _as(op, np.where(x[0], x[1], x[2]))


def _extend(op: Operation, x: Sequence[Array]) -> Array:
    return _as(op, _signed(x[0]))


def _extend_unsigned(op: Operation, x: Sequence[Array]) -> Array:
    return _as(op, unsigned(x[0]))


def _same(op: Operation, x: Sequence[Array]) -> Array:
    return _as(op, arithmetic.wide(x[0]))


def _to_float(op: Operation, x: Sequence[Array]) -> Array:
    source = _signed(x[0]) if ops.name_of(op) == "arith.sitofp" else unsigned(x[0])
    return _as(op, source.astype(np.float64))


def _to_integer(op: Operation, x: Sequence[Array]) -> Array:
    """Towards zero; what does not fit is cut to the limits."""
    dtype = ops.dtype(op.results[0])
    bits = 8 * NUMPY[dtype].itemsize
    signed = ops.name_of(op) == "arith.fptosi"
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) if signed else (0.0, 2.0**bits - 1)
    value = np.trunc(np.nan_to_num(x[0].astype(np.float64), nan=0.0, posinf=high, neginf=low))
    return _as(op, np.clip(value, low, high).astype(np.int64))


def _float_cast(op: Operation, x: Sequence[Array]) -> Array:
    with np.errstate(all="ignore"):
        return _as(op, x[0])


def _bits(op: Operation, x: Sequence[Array]) -> Array:
    return np.ascontiguousarray(x[0]).view(NUMPY[ops.dtype(op.results[0])]).reshape(x[0].shape)


def _apply_scale(op: Operation, x: Sequence[Array]) -> Array:
    double = ops.word(op, "rounding_mode") == "DOUBLE_ROUND"
    scaled = arithmetic.apply_scale(arithmetic.wide(x[0]), x[1], x[2], double_round=double)
    return _as(op, scaled)


def error_function(x: Array) -> Array:
    """erf, to within float64's rounding."""
    from math import erf

    flat, back = np.unique(x, return_inverse=True)
    return np.array([erf(v) for v in flat.tolist()], np.float64)[back].reshape(x.shape)


def _powered(a: Array, b: Array) -> Array:
    return np.power(a.astype(np.float64), b.astype(np.float64))


_INTEGERS: dict[str, Callable[..., Array]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.divsi": _divide,
    "arith.remsi": _remainder,
    "arith.shrsi": np.right_shift,
    "arith.shli": np.left_shift,
    "math.absi": np.abs,
}
_UNSIGNED: dict[str, Callable[..., Array]] = {
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
    "arith.divui": _divide,
    "arith.remui": _remainder,
    "arith.shrui": np.right_shift,
}
_FLOATS: dict[str, Callable[..., Array]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.round": lambda x: np.trunc(x + np.copysign(np.float32(0.5), x)),
    "math.roundeven": np.rint,
    "math.trunc": np.trunc,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.cbrt": np.cbrt,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.tanh": np.tanh,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.atan": np.arctan,
    "math.atan2": np.arctan2,
    "math.erf": error_function,
    "math.powf": _powered,
    "math.copysign": np.copysign,
    "math.fma": lambda a, b, c: a * b + c,
}
MEANINGS: dict[str, Meaning] = {
    **{name: _integers(function) for name, function in _INTEGERS.items()},
    **{name: _unsigned(function) for name, function in _UNSIGNED.items()},
    **{name: _floats(function) for name, function in _FLOATS.items()},
    "arith.muli": _mul,
    "arith.cmpi": _compare,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.extsi": _extend,
    "arith.extui": _extend_unsigned,
    "arith.trunci": _same,
    "arith.index_cast": _extend,
    "arith.index_castui": _extend_unsigned,
    "arith.sitofp": _to_float,
    "arith.uitofp": _to_float,
    "arith.fptosi": _to_integer,
    "arith.fptoui": _to_integer,
    "arith.extf": _float_cast,
    "arith.truncf": _float_cast,
    "arith.bitcast": _bits,
    "tosa.apply_scale": _apply_scale,
}
"""By the operation's name; operands broadcast."""
