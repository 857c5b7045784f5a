// Source: https://github.com/JuliaGPU/GPUArrays.jl/pull/590
// Threads outside of the matrix load nothing, but their places of the tile are read.
#include <metal_stdlib>
using namespace metal;

//! [kernel.masked_tile]
//! threadgroups = [2, 2]
//! threadgroup = [4, 4]
//! arguments.a = { shape = [6, 6], fill = "random" }
//! arguments.b = { shape = [6, 6], fill = "random" }
//! arguments.c = { shape = [6, 6], fill = "zeros" }
//! arguments.n = 6
kernel void masked_tile(device const float* a, device const float* b, device float* c,
                        constant uint& n, uint2 p [[thread_position_in_grid]],
                        uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float ta[4][4], tb[4][4];
    float acc = 0;
    for (uint k = 0; k < n; k += 4) {
#ifdef FIXED
        ta[t.y][t.x] = p.y < n && k + t.x < n ? a[p.y * n + k + t.x] : 0;
        tb[t.y][t.x] = p.x < n && k + t.y < n ? b[(k + t.y) * n + p.x] : 0;
#else
        if (p.x < n && p.y < n) {
            ta[t.y][t.x] = k + t.x < n ? a[p.y * n + k + t.x] : 0;
            tb[t.y][t.x] = k + t.y < n ? b[(k + t.y) * n + p.x] : 0;
        }
#endif
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 4; ++i) acc += ta[t.y][i] * tb[i][t.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (p.x < n && p.y < n) {
        c[p.y * n + p.x] = acc;  // BUG uninitialised-read
    }
}
