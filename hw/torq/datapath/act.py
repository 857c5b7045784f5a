"""The activation unit on one vector of partial sums, compiled."""

import math

import numpy as np
from numpy.typing import NDArray

from .bits import bits_of, extend, float_of, from_bfloat, to_bfloat, wrap32
from .compiled import called, inlined
from .layout import (
    ACT_FLOAT,
    ACT_MODE,
    ACT_PLAIN,
    ACT_WIDTH,
    BIAS_BYTES,
    BIAS_ON,
    CLIP_MAX,
    CLIP_MIN,
    PARTIAL_STEP,
    RESULT_BYTES,
    RESULTS,
    RIGHT_SHIFT,
    ROUNDING,
    SHIFT0,
    SUM_GROUP,
    TABLE_ON,
    TO_INTEGER,
    VECTOR_STEP,
    ZERO_POINT,
)
from .state import Bytes, Ints, Number, Real, Slice

# Codes of DE_ACT.act_mode and DE_ACT.rnd_type.
ABS, NEGATE, LEADING_ZEROS, CEIL, FLOOR, CONVERT, SHIFT_LEFT, SHIFT_LOGIC, SHIFT_ARITHMETIC = range(
    1, 10
)
NEAREST, DOUBLE, NEAREST_EVEN, TRUNCATE = range(4)
NARROW = 1
"""DE_ACT.func_size of 16-bit sums: of floats, bfloat16."""
AMOUNTS = 8
"""In shift modes: the word of a vector where the shift amounts start."""


@inlined
def shift_rounded(value: Number, start: Number, shift: Number, rounding: Number) -> Number:
    """`value` shifted right; `start` is what it was before scaling (its sign matters to DOUBLE)."""
    if shift == 0:
        return value
    if rounding == TRUNCATE:
        return value >> shift
    half = np.int64(1) << (shift - 1)
    if rounding == NEAREST_EVEN:
        down = value >> shift
        rest = value - (down << shift)
        if rest > half or (rest == half and down & 1):
            down += 1
        return down
    if rounding == DOUBLE and shift > 31:
        half += (1 << 30) if start >= 0 else -(1 << 30)
    return (value + half) >> shift


@inlined
def look_up(value: Number, base: Ints, slope: Ints) -> Number:
    """The table's line through a 16-bit number with 7 bits behind the point."""
    v = min(max(value, -32768), 32767)
    index = (v >> 7) + 256
    return base[index] + ((slope[index] * (v & 127) + 64) >> 7)


@inlined
def pair(p: Ints, bias: Bytes, k: Number) -> tuple[Number, Number]:
    """Bias and scale of result `k` from the bytes of a bias word."""
    count = p[BIAS_BYTES] // 8
    at = 0 if count <= 1 else 8 * k
    value = np.int64(0)
    scale = np.int64(0)
    for j in range(4):
        value |= np.int64(bias[at + j]) << (8 * j)
        scale |= np.int64(bias[at + 4 + j]) << (8 * j)
    return wrap32(value), wrap32(scale)


@inlined
def integer(
    p: Ints, pram: NDArray[np.int32], first: Number, k: Number, bias: Bytes, base: Ints, slope: Ints
) -> Number:
    """Result number `k`: sum, bias, scale, shift, zero point, clip."""
    total = np.int64(0)
    group = p[SUM_GROUP]
    for j in range(group):
        lane = k * group + j
        total += np.int64(pram[first + lane * p[PARTIAL_STEP]]) << p[SHIFT0 + (lane & 3)]
    mode = p[ACT_MODE]
    if mode == ABS:
        total = abs(total)
    elif mode == NEGATE:
        total = -total
    elif mode == LEADING_ZEROS:
        width = 8 << min(p[ACT_WIDTH], 2)
        low = total & ((np.int64(1) << width) - 1)
        total = np.int64(width)
        while low:
            low >>= 1
            total -= 1
    value = total
    if p[BIAS_ON]:
        shift, scale = pair(p, bias, k)
        total += shift
        value = total * scale
    value = shift_rounded(value, total, p[RIGHT_SHIFT], p[ROUNDING]) + p[ZERO_POINT]
    value = min(max(value, p[CLIP_MIN]), p[CLIP_MAX])
    if p[TABLE_ON]:
        value = look_up(value, base, slope)
        if p[RESULT_BYTES] == 1:
            value >>= 8
    if mode == CONVERT:
        return store_float(p, np.float32(value))
    return value


@inlined
def plain(m: Slice, first: Number) -> None:
    """`integer` for a vector of single sums with one bias and scale and nothing else to do."""
    p, pram, out = m.p, m.pram, m.out
    bias, scale = np.int64(0), np.int64(1)
    if p[BIAS_ON]:
        bias, scale = pair(p, m.bias, 0)
    shift, zero, low, high = p[RIGHT_SHIFT], p[ZERO_POINT], p[CLIP_MIN], p[CLIP_MAX]
    half = np.int64(1) << (shift - 1) if shift else np.int64(0)
    for k in range(p[RESULTS]):
        total = pram[first + k * p[PARTIAL_STEP]] + bias
        out[k] = min(max(((total * scale + half) >> shift) + zero, low), high)


@inlined
def store_float(p: Ints, value: Real) -> Number:
    """A float32 as the bits of a result of 2 or 4 bytes."""
    return to_bfloat(value) if p[RESULT_BYTES] == 2 else np.int64(bits_of(value))


@inlined
def to_integer(value: Real, rounding: Number) -> Number:
    """A float as 32-bit integer: rounded, kept in range; NaN is 0."""
    if value != value:
        return np.int64(0)
    wide: Real = np.float64(value)
    if rounding == TRUNCATE:
        wide = math.trunc(wide) if abs(wide) < 4e9 else wide
    elif rounding == NEAREST_EVEN:
        wide = np.rint(wide)
    else:
        wide = math.floor(wide + 0.5) if abs(wide) < 4e9 else wide
    return np.int64(min(max(wide, -2147483648.0), 2147483647.0))


@inlined
def floating(p: Ints, pram: NDArray[np.int32], first: Number, k: Number, bias: Bytes) -> Number:
    """Result number `k` of a float task: bias, clip, conversion."""
    bits = pram[first + k * p[SUM_GROUP] * p[PARTIAL_STEP]]
    value = from_bfloat(np.int64(bits)) if p[ACT_WIDTH] == NARROW else float_of(bits)
    mode = p[ACT_MODE]
    if mode == ABS:
        value = abs(value)
    elif mode == NEGATE:
        value = -value
    elif CEIL <= mode <= FLOOR and abs(value) < 8388608.0:
        value = np.float32(math.ceil(value) if mode == CEIL else math.floor(value))
        value = np.float32(math.copysign(value, -1.0)) if value == 0 and bits < 0 else value
    if p[BIAS_ON]:
        at = 0 if p[BIAS_BYTES] <= 4 else 4 * k
        word = np.int64(0)
        for j in range(4):
            word |= np.int64(bias[at + j]) << (8 * j)
        value = np.float32(value + float_of(np.int32(word)))
    low, high = float_of(np.int32(p[CLIP_MIN])), float_of(np.int32(p[CLIP_MAX]))
    if value < low:
        value = low
    if value > high:
        value = high
    if p[TO_INTEGER]:
        return to_integer(value, p[ROUNDING])
    return store_float(p, value)


@inlined
def shifted(p: Ints, pram: NDArray[np.int32], first: Number, k: Number) -> Number:
    """Result number `k` of a shift: elements packed in words, amounts in the words behind."""
    size = 1 << p[ACT_WIDTH]
    per_word = 4 // size
    at = first + (k // per_word) * p[PARTIAL_STEP]
    move = 8 * size * (k % per_word)
    mode = p[ACT_MODE]
    word = np.int64(pram[at]) & 0xFFFFFFFF
    value = extend(word >> move, size, mode == SHIFT_ARITHMETIC)
    amounts = np.int64(pram[at + AMOUNTS * p[PARTIAL_STEP]]) & 0xFFFFFFFF
    amount = min(extend(amounts >> move, size, False), 62)
    if mode == SHIFT_LEFT:
        return value << amount if amount < 8 * size else np.int64(0)
    if p[ROUNDING] != TRUNCATE and amount > 0:
        return (value + (np.int64(1) << (amount - 1))) >> amount
    return value >> amount


@called
def activate(m: Slice, vector: Number) -> None:
    """The results of one vector of a block, in `out`; how many is p[RESULTS]."""
    p, out = m.p, m.out
    if p[ACT_PLAIN]:
        plain(m, vector * p[VECTOR_STEP])
        return
    first = vector * p[VECTOR_STEP]
    mode = p[ACT_MODE]
    for k in range(p[RESULTS]):
        if SHIFT_LEFT <= mode <= SHIFT_ARITHMETIC:
            out[k] = shifted(p, m.pram, first, k)
        elif p[ACT_FLOAT]:
            out[k] = floating(p, m.pram, first, k, m.bias)
        else:
            out[k] = integer(p, m.pram, first, k, m.bias, m.base, m.slope)
