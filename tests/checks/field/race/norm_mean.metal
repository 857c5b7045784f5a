// Source: https://github.com/ggml-org/llama.cpp/pull/3057
// The mean is read from sum[0] while the first threads already store squares there.
#include <metal_stdlib>
using namespace metal;

//! [kernel.norm_mean]
//! threadgroups = 2
//! threadgroup = 64
//! arguments.src = { shape = 256, fill = "random" }
//! arguments.dst = { shape = 256, fill = "zeros" }
//! arguments.ne = 128
inline float tree(threadgroup float* sum, uint t, uint n) {
    for (uint k = n / 2; k > 0; k /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < k) sum[t] += sum[t + k];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return sum[0];  // WITH
}

kernel void norm_mean(device const float* src, device float* dst, constant uint& ne,
                      uint row [[threadgroup_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]],
                      uint n [[threads_per_threadgroup]]) {
    threadgroup float sum[64];
    device const float* x = src + row * ne;
    device float* y = dst + row * ne;
    float part = 0;
    for (uint i = t; i < ne; i += n) part += x[i];
    sum[t] = part;
    const float mean = tree(sum, t, n) / ne;
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    part = 0;
    for (uint i = t; i < ne; i += n) {
        y[i] = x[i] - mean;
        part += y[i] * y[i];
    }
    sum[t] = part;  // BUG race-read-write
    const float scale = rsqrt(tree(sum, t, n) / ne + 1e-5f);
    for (uint i = t; i < ne; i += n) y[i] *= scale;
}
