// Source: https://github.com/antirez/ds4/pull/837
// Head 0 appends to the cache, and the other heads' threadgroups read it in the same dispatch.
#include <metal_stdlib>
using namespace metal;

//! [kernel.kv_head]
//! threadgroups = 4
//! threadgroup = 32
//! arguments.k_new = { shape = 32, fill = "random" }
//! arguments.k_cache = { shape = 128, fill = "zeros" }
//! arguments.q = { shape = 128, fill = "random" }
//! arguments.score = { shape = 16, fill = "zeros" }
//! arguments.at = 3
kernel void kv_head(device const float* k_new, device float* k_cache, device const float* q,
                    device float* score, constant uint& at,
                    uint h [[threadgroup_position_in_grid]],
                    uint t [[thread_index_in_threadgroup]]) {
    if (h == 0) {
        k_cache[at * 32 + t] = k_new[t];  // WITH
    }
    threadgroup_barrier(mem_flags::mem_device);
    for (uint p = 0; p <= at; ++p) {
#ifdef FIXED
        float k = p == at ? k_new[t] : k_cache[p * 32 + t];
#else
        float k = k_cache[p * 32 + t];  // BUG race-read-write
#endif
        float s = simd_sum(q[h * 32 + t] * k);
        if (t == 0) score[h * 4 + p] = s;
    }
}
