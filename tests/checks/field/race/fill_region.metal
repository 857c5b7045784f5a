// Source: https://github.com/tile-ai/tilelang/issues/2698
// A part of a tile is filled by other threads than those that have just copied it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fill_region]
//! threadgroups = 2
//! threadgroup = 64
//! arguments.x = { shape = 128, fill = "random" }
//! arguments.y = { shape = 128, fill = "zeros" }
kernel void fill_region(device const float* x, device float* y,
                        uint t [[thread_index_in_threadgroup]],
                        uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    tile[t] = x[i];  // WITH
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (t < 12) tile[40 + t] = 0;  // BUG race-write-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = tile[63 - t];
}
