// Source: written from memory of the class: tiled transpose without a barrier
// A column of the tile is read before the simdgroups of the other rows have stored it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.transpose]
//! threadgroups = [2, 2]
//! threadgroup = [32, 8]
//! arguments.in = { shape = [64, 64], dtype = "float16", fill = "random" }
//! arguments.out = { shape = [64, 64], dtype = "float16", fill = "zeros" }
template <typename T>
void transpose_tile(device const T* in, device T* out, threadgroup T (&tile)[32][33],
                    uint2 group, uint2 t) {
    for (uint y = t.y; y < 32; y += 8) {
        tile[y][t.x] = in[(group.y * 32 + y) * 64 + group.x * 32 + t.x];  // BUG race-read-write
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    for (uint y = t.y; y < 32; y += 8) {
        out[(group.x * 32 + y) * 64 + group.y * 32 + t.x] = tile[t.x][y];  // MAYBE uninitialised-read
    }
}

kernel void transpose(device const half* in, device half* out,
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup half tile[32][33];
    transpose_tile(in, out, tile, group, t);
}
