// Source: written from memory of the class: the right neighbour in the last column of a tile
// It is the first element of the next row, a value of the same array.
// checks: rows
#include <metal_stdlib>
using namespace metal;

//! [kernel.halo_row]
//! threadgroups = 1
//! threadgroup = [8, 4, 1]
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
kernel void halo_row(device const float* x, device float* y,
                     uint2 p [[thread_position_in_threadgroup]]) {
    threadgroup float t[5][8];
    t[p.y][p.x] = x[p.y * 8 + p.x];
    if (p.y == 3) t[4][p.x] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
    const float right = p.x + 1 < 8 ? t[p.y][p.x + 1] : 0;
#else
    const float right = t[p.y][p.x + 1];  // BUG row-overrun
#endif
    y[p.y * 8 + p.x] = right - t[p.y][p.x];
}
