"""Pooling over windows of (n, h, w, c), and reductions along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..elements import LIMITS, NUMPY, Array, is_float
from .arithmetic import apply_scale, narrowed, reciprocal_scale, saturated, wide
from .products import Pads, output_size, padded, window


def largest(
    x: Array, dtype: str, *, kernel: Sequence[int], stride: Sequence[int], pads: Pads
) -> Array:
    """MAX_POOL2D: what is outside never wins."""
    low = -np.inf if is_float(dtype) else LIMITS[dtype][0]
    data = padded(x, pads, low)
    outputs = _outputs(data, kernel, stride)
    result = np.array(window(data, (0, 0), outputs, stride))
    for tap in np.ndindex(kernel[0], kernel[1]):
        np.maximum(result, window(data, tap, outputs, stride), out=result)
    return result


def mean(
    x: Array,
    dtype: str,
    *,
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    input_zp: int = 0,
    output_zp: int = 0,
) -> Array:
    """AVG_POOL2D: the mean of those cells of a window that are inside."""
    inside = padded(np.ones((*x.shape[:3], 1), np.int64), pads)
    data = padded(x.astype(np.float32) if is_float(dtype) else wide(x) - input_zp, pads)
    outputs = _outputs(data, kernel, stride)
    count = sum(window(inside, tap, outputs, stride) for tap in np.ndindex(*kernel))
    total = sum(window(data, tap, outputs, stride) for tap in np.ndindex(*kernel))
    assert isinstance(count, np.ndarray) and isinstance(total, np.ndarray)
    if is_float(dtype):
        return (total / count.astype(np.float32)).astype(NUMPY[dtype])
    scales = {int(c): reciprocal_scale(int(c)) for c in np.unique(count)}
    multiplier = np.vectorize(lambda c: scales[c][0], otypes=[np.int64])(count)
    shift = np.vectorize(lambda c: scales[c][1], otypes=[np.int64])(count)
    return saturated(apply_scale(total, multiplier, shift) + output_zp, dtype)


def _outputs(data: Array, kernel: Sequence[int], stride: Sequence[int]) -> tuple[int, int]:
    rows = output_size(data.shape[1], 0, 0, kernel[0], stride[0])
    return rows, output_size(data.shape[2], 0, 0, kernel[1], stride[1])


def reduced(kind: str, x: Array, axes: Sequence[int], dtype: str) -> Array:
    """sum, product, max, min, all or any along axes, which stay with length 1."""
    axis = tuple(axes)
    if kind in ("sum", "product"):
        how = np.sum if kind == "sum" else np.prod
        if is_float(dtype):
            total = how(x.astype(np.float32), axis=axis, keepdims=True, dtype=np.float32)
            return np.asarray(total).astype(NUMPY[dtype])
        return narrowed(np.asarray(how(wide(x), axis=axis, keepdims=True)), dtype)
    functions: dict[str, Callable[..., Array]] = {
        "max": np.max,
        "min": np.min,
        "all": np.all,
        "any": np.any,
    }
    return np.asarray(functions[kind](x, axis=axis, keepdims=True)).astype(NUMPY[dtype])
