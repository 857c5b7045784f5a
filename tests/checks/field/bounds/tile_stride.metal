// Source: written from memory of the class: padded tile, indexed with a larger pitch
// The tile was made without padding, and the index has it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.tile_stride]
//! threadgroups = 1
//! threadgroup = [16, 16]
//! arguments.m = { shape = [16, 16], fill = "random" }
kernel void tile_stride(device float* m, uint2 t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    threadgroup float tile[16 * 17];
#else
    threadgroup float tile[16 * 16];
#endif
    tile[t.y * 17 + t.x] = m[t.y * 16 + t.x];  // BUG out-of-bounds-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    m[t.y * 16 + t.x] = tile[t.x * 17 + t.y];
}
