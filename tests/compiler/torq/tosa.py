"""TOSA 1.0's integer operators in plain NumPy, as the specification words them.

Written from the specification's pseudo-code, for clarity and not for speed, and independent of the
code under test. Activations are NHWC, convolution weights are OHWI, depthwise ones HWCM. Sums are
exact (64 bits) and then checked to fit 32 (products of int16: 48): the specification makes an
overflow unpredictable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Wide = NDArray[np.int64]


class Unpredictable(ValueError):
    """The specification does not say what the result is."""


def _sum32(value: Wide) -> Wide:
    if value.size and (value.min() < -(1 << 31) or value.max() >= 1 << 31):
        raise Unpredictable("an accumulator exceeds 32 bits")
    return value


def _accumulated(value: Wide, x: Array) -> Wide:
    """Sums of products of `x` with something."""
    if x.dtype != np.int16:
        return _sum32(value)
    if value.size and (value.min() < -(1 << 47) or value.max() >= 1 << 47):
        raise Unpredictable("an accumulator exceeds 48 bits")
    return value


def _limits(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _clipped(value: Wide, dtype: str) -> Array:
    low, high = _limits(np.dtype(dtype))
    return np.clip(value, low, high).astype(dtype)


def apply_scale(value: Wide, multiplier: Wide, shift: Wide, *, double_round: bool = False) -> Wide:
    """`apply_scale_32` of each value; arrays broadcast against each other."""
    value, multiplier, shift = np.broadcast_arrays(value, multiplier, shift)
    flat = [
        _scaled(int(v), int(m), int(s), double_round)
        for v, m, s in zip(value.flat, multiplier.flat, shift.flat, strict=True)
    ]
    return np.array(flat, np.int64).reshape(value.shape)


def _scaled(value: int, multiplier: int, shift: int, double_round: bool) -> int:
    if not 2 <= shift <= 62:
        raise Unpredictable(f"shift {shift} is not 2 to 62")
    rounding = 1 << (shift - 1)
    if double_round and shift > 31:
        rounding += (1 << 30) if value >= 0 else -(1 << 30)
    result = (value * multiplier + rounding) >> shift
    if not -(1 << 31) <= result < 1 << 31:
        raise Unpredictable("a scaled value exceeds 32 bits")
    return result


def rescale(
    x: Array,
    multiplier: Sequence[int],
    shift: Sequence[int],
    *,
    input_zp: int = 0,
    output_zp: int = 0,
    dtype: str = "int8",
    double_round: bool = False,
) -> Array:
    """RESCALE; more than one multiplier means one per channel, which is the last axis."""
    value = x.astype(np.int64) - input_zp
    scaled = apply_scale(
        value,
        np.array(multiplier, np.int64),
        np.array(shift, np.int64),
        double_round=double_round,
    )
    return _clipped(scaled + output_zp, dtype)


def _padded(x: Wide, pad: Sequence[int]) -> Wide:
    top, bottom, left, right = pad
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))


def _windows(
    x: Wide, kernel: tuple[int, int], stride: Sequence[int], dilation: Sequence[int]
) -> list[list[Wide]]:
    """For each kernel row and column, what it meets at every output position."""
    _, height, width, _ = x.shape
    down = height - 1 - (kernel[0] - 1) * dilation[0]
    right = width - 1 - (kernel[1] - 1) * dilation[1]
    if down < 0 or right < 0 or down % stride[0] or right % stride[1]:
        raise Unpredictable("the stride does not divide the way of the kernel over the input")
    rows, columns = down // stride[0] + 1, right // stride[1] + 1

    def meets(row: int, column: int) -> Wide:
        top, left = row * dilation[0], column * dilation[1]
        return x[
            :,
            top : top + (rows - 1) * stride[0] + 1 : stride[0],
            left : left + (columns - 1) * stride[1] + 1 : stride[1],
        ]

    return [[meets(row, column) for column in range(kernel[1])] for row in range(kernel[0])]


def conv2d(
    x: Array,
    weights: Array,
    bias: Array,
    *,
    pad: Sequence[int] = (0, 0, 0, 0),
    stride: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    input_zp: int = 0,
    weight_zp: int = 0,
) -> Wide:
    """CONV2D: x (n, h, w, c), weights (o, kh, kw, c), bias (o,); sums, not scaled."""
    windows = _windows(
        _padded(x.astype(np.int64) - input_zp, pad), weights.shape[1:3], stride, dilation
    )
    w = weights.astype(np.int64) - weight_zp
    total = sum(
        windows[row][column] @ w[:, row, column].T
        for row in range(weights.shape[1])
        for column in range(weights.shape[2])
    )
    return _accumulated(total + bias.astype(np.int64), x)


def depthwise_conv2d(
    x: Array,
    weights: Array,
    bias: Array,
    *,
    pad: Sequence[int] = (0, 0, 0, 0),
    stride: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    input_zp: int = 0,
    weight_zp: int = 0,
) -> Wide:
    """DEPTHWISE_CONV2D: weights (kh, kw, c, m), bias (c * m,)."""
    kh, kw, channels, many = weights.shape
    windows = _windows(_padded(x.astype(np.int64) - input_zp, pad), (kh, kw), stride, dilation)
    w = weights.astype(np.int64) - weight_zp
    total = sum(
        windows[row][column][..., None] * w[row, column]
        for row in range(kh)
        for column in range(kw)
    )
    assert isinstance(total, np.ndarray)
    summed = total.reshape(*total.shape[:3], channels * many) + bias.astype(np.int64)
    return _accumulated(summed, x)


def fully_connected(
    x: Array, weights: Array, bias: Array, *, input_zp: int = 0, weight_zp: int = 0
) -> Wide:
    """A 1x1 convolution: x (n, i), weights (o, i), bias (o,)."""
    product = (x.astype(np.int64) - input_zp) @ (weights.astype(np.int64) - weight_zp).T
    return _accumulated(product + bias.astype(np.int64), x)


def matmul(a: Array, b: Array, *, a_zp: int = 0, b_zp: int = 0) -> Wide:
    """MATMUL: a (n, h, c), b (n, c, w)."""
    return _accumulated((a.astype(np.int64) - a_zp) @ (b.astype(np.int64) - b_zp), a)


def max_pool2d(
    x: Array, *, kernel: tuple[int, int], stride: Sequence[int], pad: Sequence[int] = (0, 0, 0, 0)
) -> Array:
    """MAX_POOL2D: what is outside never wins."""
    low = _limits(x.dtype)[0]
    lowest = _padded(x.astype(np.int64) - low, pad) + low
    windows = _windows(lowest, kernel, stride, (1, 1))
    return np.max([cell for row in windows for cell in row], axis=0).astype(x.dtype)


def avg_pool2d(
    x: Array,
    *,
    kernel: tuple[int, int],
    stride: Sequence[int],
    pad: Sequence[int] = (0, 0, 0, 0),
    input_zp: int = 0,
    output_zp: int = 0,
) -> Array:
    """AVG_POOL2D: the mean of those cells of a window that are inside."""
    inside = _windows(_padded(np.ones(x.shape, np.int64), pad), kernel, stride, (1, 1))
    count = sum(cell for row in inside for cell in row)
    cells = _windows(_padded(x.astype(np.int64) - input_zp, pad), kernel, stride, (1, 1))
    total = sum(cell for row in cells for cell in row)
    assert isinstance(count, np.ndarray) and isinstance(total, np.ndarray)
    scales = [reciprocal_scale(int(c)) for c in count.flat]
    multiplier = np.array([m for m, _ in scales], np.int64).reshape(count.shape)
    shift = np.array([s for _, s in scales], np.int64).reshape(count.shape)
    return _clipped(apply_scale(total, multiplier, shift) + output_zp, str(x.dtype))


def reciprocal_scale(value: int) -> tuple[int, int]:
    """(multiplier, shift) that stand for 1 / value."""
    if value <= 0:
        raise Unpredictable(f"the reciprocal of {value}")
    k = (value - 1).bit_length()
    return (((1 << 30) + 1) << k) // value, 30 + k


def add(a: Array, b: Array) -> Wide:
    """ADD of int32 values, which broadcast."""
    return _sum32(a.astype(np.int64) + b.astype(np.int64))


def sub(a: Array, b: Array) -> Wide:
    """SUB of int32 values, which broadcast."""
    return _sum32(a.astype(np.int64) - b.astype(np.int64))


def mul(a: Array, b: Array, *, shift: int = 0) -> Wide:
    """MUL: int32 operands may be shifted right, with rounding."""
    product = a.astype(np.int64) * b.astype(np.int64)
    if shift:
        product = (product + (1 << (shift - 1))) >> shift
    return _sum32(product)


def table(x: Array, entries: Array) -> Array:
    """TABLE: int8 picks one of 256; int16 interpolates between two of 513, 7 more bits come out."""
    if x.dtype == np.int8:
        return entries[x.astype(np.int64) + 128]
    position = x.astype(np.int64) + 32768
    index, fraction = position >> 7, position & 0x7F
    base, following = entries.astype(np.int64)[index], entries.astype(np.int64)[index + 1]
    return ((base << 7) + (following - base) * fraction).astype(np.int32)


def clamp(x: Array, low: int, high: int) -> Array:
    """CLAMP."""
    return np.clip(x, low, high)


def negate(x: Array, *, input_zp: int = 0, output_zp: int = 0) -> Array:
    """NEGATE, saturated."""
    return _clipped(-(x.astype(np.int64) - input_zp) + output_zp, str(x.dtype))


def absolute(x: Array) -> Array:
    """ABS of int32, saturated."""
    return _clipped(np.abs(x.astype(np.int64)), str(x.dtype))


def clz(x: Array) -> Array:
    """CLZ of int32."""
    unsigned = x.astype(np.int64) & 0xFFFFFFFF
    return np.array([32 - int(v).bit_length() for v in unsigned.flat], np.int32).reshape(x.shape)


def arithmetic_right_shift(a: Array, b: Array, *, rounding: bool) -> Array:
    """ARITHMETIC_RIGHT_SHIFT; `rounding` adds the last bit that is shifted out."""
    wide, by = np.broadcast_arrays(a.astype(np.int64), b.astype(np.int64))
    result = wide >> by
    if rounding:
        result = result + np.where(by > 0, (wide >> np.maximum(by - 1, 0)) & 1, 0)
    return result.astype(a.dtype)


def reduce_sum(x: Array, axis: int) -> Wide:
    """REDUCE_SUM of int32; the axis stays with length 1."""
    return _sum32(x.astype(np.int64).sum(axis=axis, keepdims=True))


def argmax(x: Array, axis: int) -> Array:
    """ARGMAX: the first of equals."""
    return np.argmax(x, axis=axis).astype(np.int32)


def gather(values: Array, indices: Array) -> Array:
    """GATHER: values (n, k, c), indices (n, w)."""
    return np.stack([rows[index] for rows, index in zip(values, indices, strict=True)])


def resize_nearest(
    x: Array,
    *,
    scale: Sequence[int],
    offset: Sequence[int] = (0, 0),
    border: Sequence[int] = (0, 0),
) -> Array:
    """RESIZE in nearest-neighbour mode; scale (y_n, y_d, x_n, x_d)."""
    y_n, y_d, x_n, x_d = scale
    height, width = x.shape[1:3]
    rows = ((height - 1) * y_n - offset[0] + border[0]) // y_d + 1
    columns = ((width - 1) * x_n - offset[1] + border[1]) // x_d + 1
    ys = [_nearest(i * y_d + offset[0], y_n, height) for i in range(rows)]
    xs = [_nearest(i * x_d + offset[1], x_n, width) for i in range(columns)]
    return x[:, ys][:, :, xs]


def _nearest(position: int, numerator: int, size: int) -> int:
    cell, rest = position // numerator, position % numerator
    chosen = cell + 1 if 2 * rest >= numerator else cell
    return min(max(chosen, 0), size - 1)
