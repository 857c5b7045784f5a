// Source: https://github.com/ggml-org/llama.cpp/pull/2699
// Tiles of the next step are stored while slow simdgroups still multiply those of this one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.mul_mm]
//! threadgroups = [2, 2]
//! threadgroup = [16, 16]
//! arguments.a = { shape = [32, 48], dtype = "float16", fill = "random" }
//! arguments.b = { shape = [48, 32], dtype = "float16", fill = "random" }
//! arguments.c = { shape = [32, 32], dtype = "float32", fill = "zeros" }
//! arguments.shape = [32, 32, 48]
kernel void mul_mm(device const half* a, device const half* b, device float* c,
                   constant uint3& shape, uint2 at [[thread_position_in_grid]],
                   uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup half sa[16][16];
    threadgroup half sb[16][16];
    float acc = 0;
    for (uint k = 0; k < shape.z; k += 16) {
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        sa[t.y][t.x] = a[at.y * shape.z + k + t.x];
        sb[t.y][t.x] = b[(k + t.y) * shape.y + at.x];  // BUG race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 16; ++i) {
            acc += float(sa[t.y][i]) * float(sb[i][t.x]);  // WITH
        }
    }
    c[at.y * shape.y + at.x] = acc;
}
