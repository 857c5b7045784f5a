"""Integer arithmetic of TOSA: scaling with rounding, tables, shifts; exact and on whole arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..elements import LIMITS, NUMPY, Array, is_float

Wide = NDArray[np.int64]
TABLE_STEP = 128
"""Values of a 16-bit input between two entries of a table."""


def wide(x: Array) -> Wide:
    """The same numbers in 64 bits."""
    return x.astype(np.int64)


def narrowed(value: Array, dtype: str) -> Array:
    """The low bits of each number, as the type has them."""
    if dtype == "int48":
        return ((wide(value) << 16) >> 16).astype(np.int64)
    return value.astype(NUMPY[dtype])


def saturated(value: Array, dtype: str) -> Array:
    """Each number, or the type's limit where it is beyond."""
    low, high = LIMITS[dtype]
    return np.clip(value, low, high).astype(NUMPY[dtype])


def apply_scale(
    value: Wide, multiplier: Array | int, shift: Array | int, *, double_round: bool = False
) -> Wide:
    """(value * multiplier + half) >> shift; arrays broadcast.

    With `double_round`, shifts above 31 round as if 31 bits were rounded away first.
    """
    factor, by = np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)
    half = np.where(by > 0, np.int64(1) << np.maximum(by - 1, 0), 0)
    product = value * factor + half
    if double_round and np.any(by > 31):
        away = np.where(value >= 0, np.int64(1 << 30), np.int64(-(1 << 30)))
        product = product + np.where(by > 31, away, 0)
    result: Wide = product >> by
    return result


def scaled(
    x: Array,
    multipliers: Array | int,
    shifts: Array | int,
    *,
    input_zp: int = 0,
    output_zp: int = 0,
    dtype: str = "int8",
    double_round: bool = False,
    limits: tuple[int, int] | None = None,
) -> Array:
    """TOSA's RESCALE; `limits`, if given, are closer than those of the type."""
    value = wide(x) - input_zp if input_zp else wide(x)
    value = apply_scale(value, multipliers, shifts, double_round=double_round)
    low, high = limits or LIMITS[dtype]
    return np.clip(value + output_zp, low, high).astype(NUMPY[dtype])


def clamped(x: Array, low: float, high: float) -> Array:
    """Each element within limits; NaN stays."""
    return np.clip(x, np.asarray(low, x.dtype), np.asarray(high, x.dtype))


def looked_up(x: Array, entries: Array) -> Array:
    """TOSA's TABLE: int8 picks one of 256; int16 interpolates, with 7 more bits, in int32."""
    if x.dtype != np.int16:
        return entries[x.astype(np.int64) + 128]
    position = wide(x) + 32768
    index, fraction = position >> 7, position & (TABLE_STEP - 1)
    base = wide(entries)
    first = base[index]
    return narrowed((first << 7) + (base[index + 1] - first) * fraction, "int32")


def shifted_right(a: Array, b: Array, *, rounding: bool) -> Array:
    """ARITHMETIC_RIGHT_SHIFT; `rounding` adds the last bit that is shifted out."""
    value, by = wide(a), wide(b)
    result = value >> by
    if rounding:
        result = result + np.where(by > 0, (value >> np.maximum(by - 1, 0)) & 1, 0)
    return result.astype(a.dtype)


def leading_zeros(x: Array, bits: int) -> Array:
    """How many of `bits` bits are zero before the first that is not."""
    unsigned = (wide(x) & ((1 << bits) - 1)).astype(np.float64)
    return (bits - np.frexp(unsigned)[1]).astype(x.dtype)


def reciprocal_scale(value: int) -> tuple[int, int]:
    """(multiplier, shift) that stand for 1 / value."""
    if value <= 0:
        raise ValueError(f"the reciprocal of {value}")
    k = (value - 1).bit_length()
    return (((1 << 30) + 1) << k) // value, 30 + k


def multiplied(a: Array, b: Array, shift: int, dtype: str) -> Array:
    """MUL: products of integers in `dtype`; of int32 they may be shifted right, with rounding."""
    if is_float(dtype):
        return (a.astype(np.float32) * b.astype(np.float32)).astype(NUMPY[dtype])
    product = wide(a) * wide(b)
    if shift:
        product = (product + (1 << (shift - 1))) >> shift
    return narrowed(product, dtype)
