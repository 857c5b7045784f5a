"""What TOSA's operators without windows compute, by name: element-wise, tables, conversions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation

from ..elements import LIMITS, NUMPY, Array, is_float, unsigned
from ..meaning import arithmetic
from ..meaning.arithmetic import narrowed, saturated, wide
from . import ops

Meaning = Callable[[Operation, Sequence[Array]], Array]

_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "tosa.maximum": np.maximum,
    "tosa.minimum": np.minimum,
    "tosa.bitwise_and": np.bitwise_and,
    "tosa.bitwise_or": np.bitwise_or,
    "tosa.bitwise_xor": np.bitwise_xor,
    "tosa.logical_and": np.logical_and,
    "tosa.logical_or": np.logical_or,
    "tosa.logical_xor": np.logical_xor,
    "tosa.equal": np.equal,
    "tosa.greater": np.greater,
    "tosa.greater_equal": np.greater_equal,
}
_ERF = np.vectorize(math.erf, otypes=[np.float64])
_FLOAT_UNARY: dict[str, Callable[[Array], Array]] = {
    "tosa.exp": np.exp,
    "tosa.log": np.log,
    "tosa.tanh": np.tanh,
    "tosa.erf": _ERF,
    "tosa.sin": np.sin,
    "tosa.cos": np.cos,
    "tosa.ceil": np.ceil,
    "tosa.floor": np.floor,
    "tosa.reciprocal": lambda x: 1 / x,
    "tosa.rsqrt": lambda x: 1 / np.sqrt(x),
    "tosa.sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def _sum(op: Operation, x: Sequence[Array]) -> Array:
    dtype = ops.dtype(op.results[0])
    sign = -1 if ops.name_of(op) == "tosa.sub" else 1
    if is_float(dtype):
        b = x[1].astype(np.float32) * np.float32(sign)
        return (x[0].astype(np.float32) + b).astype(NUMPY[dtype])
    return narrowed(wide(x[0]) + sign * wide(x[1]), dtype)


def _binary(op: Operation, x: Sequence[Array]) -> Array:
    result = _BINARY[ops.name_of(op)](x[0], x[1])
    return np.asarray(result, NUMPY[ops.dtype(op.results[0])])


def _mul(op: Operation, x: Sequence[Array]) -> Array:
    shift = int(x[2].reshape(-1)[0]) if len(x) > 2 else 0
    return arithmetic.multiplied(x[0], x[1], shift, ops.dtype(op.results[0]))


def _shift_left(op: Operation, x: Sequence[Array]) -> Array:
    return narrowed(wide(x[0]) << wide(x[1]), ops.dtype(op.results[0]))


def _shift_right(op: Operation, x: Sequence[Array]) -> Array:
    dtype = ops.dtype(op.results[0])
    low, high = LIMITS[dtype]
    return narrowed((wide(x[0]) & (high - low)) >> wide(x[1]), dtype)


def _shift_right_signed(op: Operation, x: Sequence[Array]) -> Array:
    return arithmetic.shifted_right(x[0], x[1], rounding=bool(ops.integer(op, "round")))


def _divide(op: Operation, x: Sequence[Array]) -> Array:
    a, b = np.broadcast_arrays(wide(x[0]), wide(x[1]))
    quotient = np.abs(a) // np.maximum(np.abs(b), 1)
    return narrowed(np.where((a < 0) != (b < 0), -quotient, quotient), ops.dtype(op.results[0]))


def _power(op: Operation, x: Sequence[Array]) -> Array:
    result = np.power(x[0].astype(np.float32), x[1].astype(np.float32))
    return result.astype(NUMPY[ops.dtype(op.results[0])])


def _float_unary(op: Operation, x: Sequence[Array]) -> Array:
    with np.errstate(all="ignore"):
        result = _FLOAT_UNARY[ops.name_of(op)](x[0].astype(np.float64))
        return np.asarray(result).astype(NUMPY[ops.dtype(op.results[0])])


def _absolute(op: Operation, x: Sequence[Array]) -> Array:
    dtype = ops.dtype(op.results[0])
    return np.abs(x[0]) if is_float(dtype) else saturated(np.abs(wide(x[0])), dtype)


def _negate(op: Operation, x: Sequence[Array]) -> Array:
    dtype = ops.dtype(op.results[0])
    if is_float(dtype):
        return np.negative(x[0])
    zeros = [int(z.reshape(-1)[0]) for z in x[1:]] or [0, 0]
    return saturated(-(wide(x[0]) - zeros[0]) + zeros[1], dtype)


def _clz(op: Operation, x: Sequence[Array]) -> Array:
    return arithmetic.leading_zeros(x[0], 32)


def _not(op: Operation, x: Sequence[Array]) -> Array:
    return np.logical_not(x[0]) if x[0].dtype == np.bool_ else np.invert(x[0])


def _clamp(op: Operation, x: Sequence[Array]) -> Array:
    low, high = ops.number(op, "min_val"), ops.number(op, "max_val")
    assert low is not None and high is not None
    return arithmetic.clamped(x[0], low, high)


def _table(op: Operation, x: Sequence[Array]) -> Array:
    return arithmetic.looked_up(x[0], x[1])


def _select(op: Operation, x: Sequence[Array]) -> Array:
    return np.where(x[0], x[1], x[2])


def rescaled(op: Operation, x: Sequence[Array]) -> Array:
    """RESCALE with the operands' zero points; unsigned types are told by attributes."""
    given, made = ops.dtype(op.operands[0]), ops.dtype(op.results[0])
    source = unsigned(given) if ops.integer(op, "input_unsigned") else given
    dtype = unsigned(made) if ops.integer(op, "output_unsigned") else made
    result = arithmetic.scaled(
        x[0].view(NUMPY[source]),
        wide(x[1]),
        wide(x[2]),
        input_zp=_point(x[3], source),
        output_zp=_point(x[4], dtype),
        dtype=dtype,
        double_round=ops.word(op, "rounding_mode") == "DOUBLE_ROUND",
    )
    return result.view(NUMPY[made])


def _point(zero: Array, dtype: str) -> int:
    """A zero point; those of unsigned numbers are written as signed ones."""
    value = int(zero.reshape(-1)[0])
    return value & LIMITS[dtype][1] if dtype.startswith("u") else value


def _cast(op: Operation, x: Sequence[Array]) -> Array:
    return cast(x[0], ops.dtype(op.operands[0]), ops.dtype(op.results[0]))


def cast(x: Array, source: str, dtype: str) -> Array:
    """CAST: integers are cut or extended, floats rounded to the nearest even and saturated."""
    if dtype == "bool":
        return np.asarray(x != 0)
    if is_float(source) and not is_float(dtype):
        low, high = LIMITS[dtype]
        value = np.rint(np.nan_to_num(x.astype(np.float64), nan=0.0))
        return np.clip(value, low, high).astype(NUMPY[dtype])
    return x.astype(NUMPY[dtype]) if is_float(dtype) else narrowed(wide(x), dtype)


MEANINGS: dict[str, Meaning] = {
    "tosa.add": _sum,
    "tosa.sub": _sum,
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_FLOAT_UNARY, _float_unary),
    "tosa.mul": _mul,
    "tosa.logical_left_shift": _shift_left,
    "tosa.logical_right_shift": _shift_right,
    "tosa.arithmetic_right_shift": _shift_right_signed,
    "tosa.intdiv": _divide,
    "tosa.pow": _power,
    "tosa.abs": _absolute,
    "tosa.negate": _negate,
    "tosa.clz": _clz,
    "tosa.bitwise_not": _not,
    "tosa.logical_not": _not,
    "tosa.clamp": _clamp,
    "tosa.table": _table,
    "tosa.select": _select,
    "tosa.rescale": rescaled,
    "tosa.cast": _cast,
}
"""By the operator's name."""
