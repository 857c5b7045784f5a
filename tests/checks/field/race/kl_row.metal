// Source: https://github.com/ml-explore/mlx-lm/pull/1714
// The row's maximum and the row's sum go through the same slots, without a barrier between them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.kl_row]
//! threadgroups = 2
//! threadgroup = 128
//! arguments.logits = { shape = 1024, fill = "random" }
//! arguments.lse = { shape = 2, fill = "zeros" }
//! arguments.width = 512
kernel void kl_row(device const float* logits [[buffer(0)]], device float* lse [[buffer(1)]],
                   constant uint& width [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]],
                   uint sgs [[simdgroups_per_threadgroup]]) {
    threadgroup float shared[32];
    device const float* x = logits + row * width;
    float m = -INFINITY;
    for (uint i = t; i < width; i += n) m = max(m, x[i]);
    m = simd_max(m);
    if (lane == 0) shared[sg] = m;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < sgs; ++i) {
        m = max(m, shared[i]);  // WITH
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    float s = 0;
    for (uint i = t; i < width; i += n) s += exp(x[i] - m);
    s = simd_sum(s);
    if (lane == 0) shared[sg] = s;  // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float total = 0;
    for (uint i = 0; i < sgs; ++i) total += shared[i];
    if (t == 0) lse[row] = m + log(total);
}
