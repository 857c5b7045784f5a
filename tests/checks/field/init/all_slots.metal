// Source: https://github.com/ggml-org/llama.cpp/pull/3057
// The second stage reads 32 partial sums, of which only as many exist as there are simdgroups.
#include <metal_stdlib>
using namespace metal;

//! [kernel.all_slots]
//! threads = 128
//! threadgroup = 128
//! arguments.x = { shape = 128, fill = "random" }
//! arguments.y = { shape = 1, fill = "zeros" }
kernel void all_slots(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint sgs [[simdgroups_per_threadgroup]]) {
    threadgroup float part[32];
    float s = simd_sum(x[t]);
    if (lane == 0) part[sg] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) {
#ifdef FIXED
        float v = lane < sgs ? part[lane] : 0;
#else
        float v = part[lane];
#endif
        v = simd_sum(v);
        if (lane == 0) y[0] = v;  // BUG uninitialised-read
    }
}
