"""Sums of products: convolutions over NHWC and products of matrices, exact for integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..elements import Array
from .arithmetic import wide

Pads = Sequence[int]
"""Rows and columns at the top, bottom, left and right."""
_EXACT = 1 << 53


def padded(x: Array, pads: Pads, value: float = 0) -> Array:
    """(n, h, w, c) with rows and columns of `value` around; negative pads cut off."""
    top, bottom, left, right = pads
    height, width = x.shape[1:3]
    x = x[:, max(0, -top) : height - max(0, -bottom), max(0, -left) : width - max(0, -right)]
    if max(pads) <= 0:
        return x
    around = [(0, 0), (max(0, top), max(0, bottom)), (max(0, left), max(0, right)), (0, 0)]
    return np.pad(x, around, constant_values=np.asarray(value, x.dtype))


def output_size(
    size: int, before: int, after: int, taps: int, stride: int, dilation: int = 1
) -> int:
    """How many windows fit."""
    return (size + before + after - (taps - 1) * dilation - 1) // stride + 1


def window(
    x: Array,
    tap: tuple[int, int],
    outputs: tuple[int, int],
    stride: Sequence[int],
    dilation: Sequence[int] = (1, 1),
) -> Array:
    """What one tap of a kernel meets at every output position of a padded (n, h, w, c)."""
    top, left = tap[0] * dilation[0], tap[1] * dilation[1]
    rows, columns = outputs
    return x[
        :,
        top : top + (rows - 1) * stride[0] + 1 : stride[0],
        left : left + (columns - 1) * stride[1] + 1 : stride[1],
    ]


def convolved(
    x: Array,
    weights: Array,
    bias: Array | None,
    *,
    pads: Pads,
    stride: Sequence[int],
    dilation: Sequence[int] = (1, 1),
    input_zp: int = 0,
    weight_zp: int = 0,
) -> Array:
    """Sums of x (n, h, w, c) with weights (o, kh, kw, c), and bias (o,): int64, or float32."""
    kh, kw = weights.shape[1:3]
    data = padded(_less(x, input_zp), pads)
    outputs = _outputs(data, (kh, kw), stride, dilation)
    w = _less(weights, weight_zp)
    total = np.zeros((x.shape[0], *outputs, weights.shape[0]), data.dtype)
    for tap in np.ndindex(kh, kw):
        total += window(data, tap, outputs, stride, dilation) @ w[:, tap[0], tap[1]].T
    return _with_bias(total, bias)


def convolved_by_channel(
    x: Array,
    weights: Array,
    bias: Array | None,
    *,
    pads: Pads,
    stride: Sequence[int],
    dilation: Sequence[int] = (1, 1),
    input_zp: int = 0,
    weight_zp: int = 0,
) -> Array:
    """Sums of each channel of x (n, h, w, c) with its kernels of weights (kh, kw, c, m)."""
    kh, kw, channels, many = weights.shape
    data = padded(_less(x, input_zp), pads)
    outputs = _outputs(data, (kh, kw), stride, dilation)
    w = _less(weights, weight_zp)
    total = np.zeros((x.shape[0], *outputs, channels, many), data.dtype)
    for tap in np.ndindex(kh, kw):
        total += window(data, tap, outputs, stride, dilation)[..., None] * w[tap]
    return _with_bias(total.reshape(*total.shape[:3], channels * many), bias)


def transposed_convolved(
    x: Array,
    weights: Array,
    bias: Array | None,
    *,
    out_pads: Pads,
    stride: Sequence[int],
    outputs: tuple[int, int],
    input_zp: int = 0,
    weight_zp: int = 0,
) -> Array:
    """TRANSPOSE_CONV2D: every input pixel spreads weights (o, kh, kw, c) over the output."""
    n, height, width, _ = x.shape
    o, kh, kw, _ = weights.shape
    data, w = _less(x, input_zp), _less(weights, weight_zp)
    rows, columns = (height - 1) * stride[0] + kh, (width - 1) * stride[1] + kw
    spread = np.zeros((n, rows, columns, o), data.dtype)
    for row, column in np.ndindex(kh, kw):
        place = spread[
            :,
            row : row + (height - 1) * stride[0] + 1 : stride[0],
            column : column + (width - 1) * stride[1] + 1 : stride[1],
        ]
        place += data @ w[:, row, column].T
    total = padded(spread, out_pads)[:, : outputs[0], : outputs[1]]
    return _with_bias(total, bias)


def matrix_product(a: Array, b: Array, *, a_zp: int = 0, b_zp: int = 0) -> Array:
    """Sums of a (n, h, c) and b (n, c, w): int64, or float32."""
    return _with_bias(_less(a, a_zp) @ _less(b, b_zp), None)


def _less(x: Array, zero_point: int) -> Array:
    """Numbers that NumPy multiplies fast and exactly: float64 of integers, float32 of floats."""
    if x.dtype.kind not in "iub":
        return x.astype(np.float32)
    return x.astype(np.float64) - zero_point


def _outputs(
    data: Array, kernel: tuple[int, int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[int, int]:
    rows = output_size(data.shape[1], 0, 0, kernel[0], stride[0], dilation[0])
    columns = output_size(data.shape[2], 0, 0, kernel[1], stride[1], dilation[1])
    return rows, columns


def _with_bias(total: Array, bias: Array | None) -> Array:
    if total.dtype == np.float32:
        return total if bias is None else total + bias.astype(np.float32)
    if total.size and float(np.abs(total).max()) >= _EXACT:
        raise ValueError("a sum of products is beyond 53 bits")
    sums = total.astype(np.int64)
    return sums if bias is None else sums + wide(bias)
