// Source: https://github.com/ml-explore/mlx/issues/3856
// The rows that are left below a tile are made a short before they are clamped to the tile.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.rows_left]
//! threadgroups = 2
//! threadgroup = 32
//! arguments.x = { shape = 64, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
//! arguments.rows = 40000
kernel void rows_left(device const float* x, device float* y, constant int& rows,
                      uint group [[threadgroup_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]]) {
    const int first = group * 32;
#ifdef FIXED
    const short left = short(min(32, max(0, rows - first)));
#else
    const short left = min(short(32), short(max(0, rows - first)));  // BUG index-overflow
#endif
    const short row = clamp(short(lane), short(0), short(left - 1));
    y[first + lane] = x[first + max(row, short(0))];
}
