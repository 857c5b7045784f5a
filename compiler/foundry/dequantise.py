"""The kernel that turns weights of a format into numbers."""

from __future__ import annotations

from .formats import PRELUDE, Format
from .formats.prelude import without_unused

_KERNEL = """
// One thread reads eight weights of a row: position.x counts eights, position.y rows.
kernel void dequantise(const device uchar* matrix [[buffer(0)]],
                       const device uchar* scales [[buffer(1)]],
                       device float* output [[buffer(2)]],
                       constant uint2& extent [[buffer(3)]],
                       uint2 position [[thread_position_in_grid]]) {
    const uint columns = extent.x;
    const uint rows = extent.y;
    const uint k = position.x * 8;
    if (k >= columns || position.y >= rows) {
        return;
    }
    float w[8];
    POLICY::load8(matrix, scales, rows, columns, position.y, k, w);
    const uint count = min(8u, columns - k);
    for (uint i = 0; i < count; ++i) {
        output[ulong(position.y) * columns + k + i] = w[i];
    }
}
"""


def dequantise_source(weights: Format) -> str:
    """The kernel `dequantise(matrix, scales, output, extent)` in MSL for one format.

    `output` is float [rows, columns]; `extent` is (columns, rows); a grid of at least
    (ceil(columns / 8), rows) threads.
    """
    kernel = _KERNEL.replace("POLICY", weights.policy)
    head = "#include <metal_stdlib>\nusing namespace metal;\n\n"
    return without_unused(f"{head}{PRELUDE}\n{weights.text}{kernel}")
