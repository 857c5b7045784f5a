"""Kernels that copy and transpose a square matrix of floats: naive, by tiles, by padded tiles."""

from __future__ import annotations

_HEAD = """#include <metal_stdlib>
using namespace metal;
constant constexpr uint SIZE = %d, TILE = 32;
"""
_BODIES = {
    "copy": """
    for (uint j = 0; j < TILE; j += 8) {
        uint i = (group.y * TILE + t.y + j) * SIZE + group.x * TILE + t.x;
        y[i] = x[i];
    }
""",
    "naive": """
    for (uint j = 0; j < TILE; j += 8) {
        uint row = group.y * TILE + t.y + j, column = group.x * TILE + t.x;
        y[column * SIZE + row] = x[row * SIZE + column];
    }
""",
    "tiled": """
    threadgroup float tile[TILE][TILE];
    uint2 at = group * TILE;
    for (uint j = 0; j < TILE; j += 8)
        tile[t.y + j][t.x] = x[(at.y + t.y + j) * SIZE + at.x + t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < TILE; j += 8)
        y[(at.x + t.y + j) * SIZE + at.y + t.x] = tile[t.x][t.y + j];
""",
}
_BODIES["padded"] = _BODIES["tiled"].replace("tile[TILE][TILE]", "tile[TILE][TILE + 1]")
_KERNEL = """
//! [kernel.%(name)s]
//! threadgroups = [%(groups)d, %(groups)d]
//! threadgroup = [32, 8]
kernel void %(name)s(device const float* x, device float* y,
                     uint2 group [[threadgroup_position_in_grid]],
                     uint2 t [[thread_position_in_threadgroup]]) {%(body)s}
"""


def transposes(size: int, *names: str) -> str:
    """MSL with some of the kernels "copy", "naive", "tiled" and "padded"; all without names."""
    kernels = (
        _KERNEL % {"name": name, "groups": size // 32, "body": _BODIES[name]}
        for name in names or _BODIES
    )
    return _HEAD % size + "".join(kernels)
