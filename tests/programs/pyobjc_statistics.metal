#include <metal_stdlib>
using namespace metal;

constant uint THREADS [[function_constant(0)]];

kernel void partial_sums(device const float* data [[buffer(0)]],
                         device float2* sums [[buffer(1)]],
                         constant uint& count [[buffer(2)]],
                         uint i [[thread_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint group [[threadgroup_position_in_grid]]) {
    threadgroup float2 of_simdgroups[32];
    const float x = i < count ? data[i] : 0;
    const float2 sum = {simd_sum(x), simd_sum(x * x)};
    if (lane == 0) of_simdgroups[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        const float2 mine = lane < THREADS / 32 ? of_simdgroups[lane] : float2(0);
        const float2 all = {simd_sum(mine.x), simd_sum(mine.y)};
        if (lane == 0) sums[group] = all;
    }
}

kernel void finish(device const float2* sums [[buffer(0)]],
                   device float2* result [[buffer(1)]],
                   constant uint& groups [[buffer(3)]],
                   threadgroup float2* shared [[threadgroup(0)]],
                   uint thread_index [[thread_index_in_threadgroup]]) {
    float2 sum = 0;
    for (uint k = thread_index; k < groups; k += THREADS) sum += sums[k];
    shared[thread_index] = sum;
    for (uint half_size = THREADS / 2; half_size > 0; half_size /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (thread_index < half_size) shared[thread_index] += shared[thread_index + half_size];
    }
    if (thread_index == 0) *result = shared[0];
}
