"""Bilinear sampling at points of a grid, forward and backward, as MLX's page on kernels has it.

The same interface and the same use of metal_kernel as the example there, in other words: shapes of
the inputs in the body, template types, outputs that start at zero and are added to atomically, sums
over a simdgroup before that.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from assay.mlx import metal_kernel

LANES = 32

# Corner k of the four pixels around a point: which column and row, and how much it weighs.
CORNERS = """
    const int height = x_shape[1], width = x_shape[2], channels = x_shape[3];
    const int points = grid_shape[1] * grid_shape[2];
    const int per_point = PADDED ? ceildiv(channels, LANES) * LANES : channels;
    const uint elem = thread_position_in_grid.x;
    const int point = elem / per_point, channel = elem % per_point;
    const float px = ((grid[2 * point] + 1) * width - 1) / 2;
    const float py = ((grid[2 * point + 1] + 1) * height - 1) / 2;
    const int left = floor(px), top = floor(py);
    const float to_right = px - left, to_bottom = py - top;
    const int image = point / points * height * width * channels;
"""

FORWARD = (
    CORNERS
    + """
    T sum = 0;
    for (int k = 0; k < 4; ++k) {
        const int column = left + (k & 1), row = top + (k >> 1);
        if (column < 0 || column >= width || row < 0 || row >= height) continue;
        const float across = k & 1 ? to_right : 1 - to_right;
        const float down = k >> 1 ? to_bottom : 1 - to_bottom;
        sum += T(across * down) * x[image + (row * width + column) * channels + channel];
    }
    out[elem] = sum;
"""
)

BACKWARD = (
    CORNERS
    + """
    T along_x = 0, along_y = 0;
    if (channel < channels) {
        const T given = cotangent[point * channels + channel];
        for (int k = 0; k < 4; ++k) {
            const int column = left + (k & 1), row = top + (k >> 1);
            if (column < 0 || column >= width || row < 0 || row >= height) continue;
            const float across = k & 1 ? to_right : 1 - to_right;
            const float down = k >> 1 ? to_bottom : 1 - to_bottom;
            const int place = image + (row * width + column) * channels + channel;
            atomic_fetch_add_explicit(&x_grad[place], T(across * down) * given,
                                      memory_order_relaxed);
            along_x += (k & 1 ? 1 : -1) * down * x[place] * given;
            along_y += (k >> 1 ? 1 : -1) * across * x[place] * given;
        }
    }
    along_x = simd_sum(along_x) * width / 2;
    along_y = simd_sum(along_y) * height / 2;
    if (thread_index_in_simdgroup == 0) {
        atomic_fetch_add_explicit(&grid_grad[2 * point], along_x, memory_order_relaxed);
        atomic_fetch_add_explicit(&grid_grad[2 * point + 1], along_y, memory_order_relaxed);
    }
"""
)

_forward = metal_kernel(
    name="grid_sample", input_names=["x", "grid"], output_names=["out"], source=FORWARD
)
_backward = metal_kernel(
    name="grid_sample_grad",
    input_names=["x", "grid", "cotangent"],
    output_names=["x_grad", "grid_grad"],
    source=BACKWARD,
    atomic_outputs=True,
)


@mx.custom_function
def grid_sample(x: Any, grid: Any) -> Any:
    """Images `x` (N, H, W, C) at points `grid` (N, h, w, 2) in -1..1: (N, h, w, C)."""
    shape = (*grid.shape[:3], x.shape[3])
    (sampled,) = _forward(
        inputs=[x, grid],
        template=[("T", x.dtype), ("PADDED", False), ("LANES", LANES)],
        output_shapes=[shape],
        output_dtypes=[x.dtype],
        grid=(shape[0] * shape[1] * shape[2] * shape[3], 1, 1),
        threadgroup=(256, 1, 1),
    )
    return sampled


@grid_sample.vjp
def grid_sample_vjp(primals: Any, cotangent: Any, _outputs: Any) -> Any:
    """The gradients of images and points."""
    x, grid = primals
    padded = -(-x.shape[3] // LANES) * LANES
    return tuple(
        _backward(
            inputs=[x, grid, cotangent],
            template=[("T", x.dtype), ("PADDED", True), ("LANES", LANES)],
            output_shapes=[x.shape, grid.shape],
            output_dtypes=[x.dtype, x.dtype],
            grid=(grid.shape[0] * grid.shape[1] * grid.shape[2] * padded, 1, 1),
            threadgroup=(256, 1, 1),
            init_value=0,
        )
    )


def reference(x: Any, grid: Any) -> Any:
    """The same in MLX's own operations."""
    images, height, width, _ = x.shape
    px = ((grid[..., 0] + 1) * width - 1) / 2
    py = ((grid[..., 1] + 1) * height - 1) / 2
    left, top = mx.stop_gradient(mx.floor(px)), mx.stop_gradient(mx.floor(py))
    numbers = mx.arange(images)[:, None, None]
    total = mx.zeros((*grid.shape[:3], x.shape[3]))
    for right in (0, 1):
        for lower in (0, 1):
            column, row = left + right, top + lower
            across = px - left if right else 1 - (px - left)
            down = py - top if lower else 1 - (py - top)
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            safe_row = mx.clip(row, 0, height - 1).astype(mx.int32)
            safe_column = mx.clip(column, 0, width - 1).astype(mx.int32)
            weight = across * down * inside
            total = total + weight[..., None] * x[numbers, safe_row, safe_column]
    return total
