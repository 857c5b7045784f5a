// Source: https://github.com/EricLBuehler/mistral.rs/pull/1327
// A slot for each of eight simdgroups, in a threadgroup of nine.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan_sums]
//! threadgroups = 2
//! threadgroup = 288
//! arguments.x = { shape = 576, fill = "random" }
//! arguments.y = { shape = 576, fill = "zeros" }
#ifdef FIXED
constant constexpr int SUMS = 32;
#else
constant constexpr int SUMS = 8;
#endif
kernel void scan_sums(device const float* x, device float* y, uint i [[thread_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]],
                      ushort sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float sums[SUMS];
    const float v = x[i], prefix = simd_prefix_inclusive_sum(v);
    if (lane == 31) sums[sg] = prefix;  // BUG out-of-bounds-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float before = 0;
    for (ushort k = 0; k < sg; ++k) before += sums[k];
    y[i] = before + prefix;
}
