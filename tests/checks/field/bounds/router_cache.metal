// Source: https://github.com/trymirai/uzu/issues/523
// A fixed cache for a row of the model's width overflows for wide models.
#include <metal_stdlib>
using namespace metal;

//! [kernel.router_cache]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 68, fill = "random" }
//! arguments.y = { shape = 1, fill = "zeros" }
//! arguments.d_model = 272
kernel void router_cache(device const float4* x, device float* y, constant uint& d_model,
                         uint t [[thread_position_in_threadgroup]]) {
    threadgroup float4 x_cache[64];
    const uint vecs = d_model / 4;
    float4 acc = 0;
#ifdef FIXED
    for (uint from = 0; from < vecs; from += 64) {
        const uint n = min(64u, vecs - from);
        for (uint i = t; i < n; i += 32) x_cache[i] = x[from + i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = t; i < n; i += 32) acc += x_cache[n - 1 - i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
#else
    for (uint i = t; i < vecs; i += 32) {
        x_cache[i] = x[i];  // BUG out-of-bounds-write
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < vecs; i += 32) {
        acc += x_cache[vecs - 1 - i];
    }
#endif
    float s = simd_sum(dot(acc, float4(1)));
    if (t == 0) *y = s;
}
