// Source: https://github.com/ROCm/rocMLIR/pull/1853
// A broadcast slot for the block's maximum is stored anew in the next iteration.
#include <metal_stdlib>
using namespace metal;

//! [kernel.online_max]
//! threads = 128
//! threadgroup = 128
//! arguments.s = { shape = 512, fill = "random" }
//! arguments.out = { shape = 128, fill = "zeros" }
kernel void online_max(device const float* s, device float* out,
                       uint t [[thread_position_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float top[4];
    threadgroup float block_max;
    float m = -1e9f, l = 0;
    for (uint b = 0; b < 4; ++b) {
        float v = s[b * 128 + t];
        float part = simd_max(v);
        if (simd_is_first()) top[sg] = part;  // MAYBE race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t == 127) {
            block_max = max(max(top[0], top[1]), max(top[2], top[3]));  // MAYBE race-read-write
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#else
        simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
        float next = max(m, block_max);  // BUG race-read-write
        l = l * exp(m - next) + exp(v - next);
        m = next;
    }
    out[t] = l;  // MAYBE uninitialised-read
}
