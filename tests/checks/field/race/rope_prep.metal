// Source: https://github.com/warpfront/hipfire/pull/575
// The sum of squares is read by all while the rotation stage reuses its slot.
#include <metal_stdlib>
using namespace metal;

//! [kernel.rope_prep]
//! threadgroups = 2
//! threadgroup = 128
//! arguments.x = { shape = 256, fill = "random" }
//! arguments.y = { shape = 256, fill = "zeros" }
kernel void rope_prep(device const float* x, device float* y,
                      uint i [[thread_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float s[128];
    float v = x[i];
    float sum = simd_sum(v * v);
    if (lane == 0) s[sg] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
        float all = 0;
        for (uint k = 0; k < 4; ++k) all += s[k];
        s[0] = all;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    v *= rsqrt(s[0] / 128 + 1e-5f);  // WITH
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    s[t] = v;  // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float other = s[t ^ 64];
    float angle = 0.01f * float(t & 63);
    y[i] = t < 64 ? v * cos(angle) - other * sin(angle) : v * cos(angle) + other * sin(angle);
}
