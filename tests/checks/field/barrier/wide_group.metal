// Source: https://github.com/waybarrios/vllm-mlx/pull/721
// A guard against a wider threadgroup lets its second half leave before the barriers.
#include <metal_stdlib>
using namespace metal;

//! [kernel.wide_group]
//! threadgroups = 2
//! threadgroup = 256
//! arguments.q = { shape = 256, fill = "random" }
//! arguments.out = { shape = 2, fill = "zeros" }
kernel void wide_group(device const float* q, device float* out,
                       uint head [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float partial[128];
#ifndef FIXED
    if (tid >= 128) return;  // MAYBE barrier-divergence
#endif
    if (tid < 128) partial[tid] = q[head * 128 + tid];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
    for (uint stride = 64; stride > 0; stride /= 2) {
        if (tid < stride) partial[tid] += partial[tid + stride];
        threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
    }
    if (tid == 0) out[head] = partial[0];
}
