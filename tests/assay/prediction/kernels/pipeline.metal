#include <metal_stdlib>
using namespace metal;
constant constexpr uint T = 32, STAGES = 3;
static void load_tile(device const float* x, threadgroup float* tile, uint k, uint n, uint lane) {
    for (uint i = lane; i < T * T; i += 64) tile[i] = x[k * T * T + i];
}
static float compute(threadgroup const float* tile, uint lane) {
    float sum = 0;
    for (uint i = 0; i < T; i++) sum = fma(tile[i * T + lane], 1.5f, sum);
    return sum;
}
//! [kernel.pipeline]
//! threadgroups = 32
//! threadgroup = 128
//! arguments.x = { shape = [65536] }
//! arguments.y = { shape = [65536], fill = "zeros" }
//! arguments.n = 24
kernel void pipeline(device const float* x, device float* y, constant uint& n,
                     uint group [[threadgroup_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float ring[STAGES][T * T];
    float sum = 0;
    if (simdgroup < 2) { load_tile(x, ring[0], 0, n, t); load_tile(x, ring[1], 1, n, t); }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < n; k++) {
        if (simdgroup < 2) {
            if (k + 2 < n) load_tile(x, ring[(k + 2) % STAGES], k + 2, n, t);
        } else {
            sum += compute(ring[k % STAGES], lane);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (simdgroup >= 2) y[group * 64 + t - 64] = sum;
}
