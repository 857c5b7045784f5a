"""Moving elements: resizing, gathering, scattering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..elements import NUMPY, Array, is_float
from .arithmetic import narrowed, wide


def gathered(values: Array, indices: Array) -> Array:
    """Rows of values (n, k, c) at indices (n, w)."""
    return np.take_along_axis(values, indices.astype(np.int64)[:, :, None], axis=1)


def scattered(values: Array, indices: Array, rows: Array) -> Array:
    """values (n, k, c) with rows (n, w, c) put at indices (n, w)."""
    result = np.array(values)
    for batch, places in enumerate(indices.astype(np.int64)):
        result[batch, places] = rows[batch]
    return result


def resize_places(
    size: int, output: int, numerator: int, denominator: int, offset: int
) -> tuple[Array, Array]:
    """For each output position the cell of the input and how many steps behind it it lies."""
    position = np.arange(output, dtype=np.int64) * denominator + offset
    return position // numerator, position % numerator


def nearest_places(size: int, output: int, numerator: int, denominator: int, offset: int) -> Array:
    """The cell of the input that is nearest to each output position."""
    cell, rest = resize_places(size, output, numerator, denominator, offset)
    return np.clip(np.where(2 * rest >= numerator, cell + 1, cell), 0, size - 1)


def resized_nearest(
    x: Array, outputs: Sequence[int], scale: Sequence[int], offset: Sequence[int]
) -> Array:
    """RESIZE of (n, h, w, c) in nearest-neighbour mode; scale (y_n, y_d, x_n, x_d)."""
    rows = nearest_places(x.shape[1], outputs[0], scale[0], scale[1], offset[0])
    columns = nearest_places(x.shape[2], outputs[1], scale[2], scale[3], offset[1])
    return x[:, rows][:, :, columns]


def resized_bilinear(
    x: Array, outputs: Sequence[int], scale: Sequence[int], offset: Sequence[int], dtype: str
) -> Array:
    """RESIZE of (n, h, w, c) in bilinear mode; integers keep the product of both scales."""
    y_n, y_d, x_n, x_d = scale
    floats = is_float(dtype)
    value = x.astype(np.float32) if floats else wide(x)
    iy, ry = resize_places(x.shape[1], outputs[0], y_n, y_d, offset[0])
    ix, rx = resize_places(x.shape[2], outputs[1], x_n, x_d, offset[1])
    y0, y1 = (np.clip(iy + step, 0, x.shape[1] - 1) for step in (0, 1))
    x0, x1 = (np.clip(ix + step, 0, x.shape[2] - 1) for step in (0, 1))
    dy, dx = ry[None, :, None, None], rx[None, None, :, None]
    uy, ux = (1, 1) if floats else (y_n, x_n)
    if floats:
        dy, dx = (dy / y_n).astype(np.float32), (dx / x_n).astype(np.float32)
    top = value[:, y0][:, :, x0] * (ux - dx) + value[:, y0][:, :, x1] * dx
    bottom = value[:, y1][:, :, x0] * (ux - dx) + value[:, y1][:, :, x1] * dx
    total = top * (uy - dy) + bottom * dy
    return total.astype(NUMPY[dtype]) if floats else narrowed(total, dtype)
