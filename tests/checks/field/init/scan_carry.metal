// Source: https://github.com/NVIDIA/cub/pull/665
// An exclusive scan over simdgroups copies totals of simdgroups that do not exist.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan_carry]
//! threads = 96
//! threadgroup = 96
//! arguments.x = { shape = 96, dtype = "uint32", fill = "ones" }
//! arguments.y = { shape = 96, dtype = "uint32", fill = "zeros" }
kernel void scan_carry(device const uint* x, device uint* y,
                       uint t [[thread_position_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint totals[4];
    uint inclusive = simd_prefix_inclusive_sum(x[t]);
    if (lane == 31) totals[sg] = inclusive;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint carry = 0;
#ifdef FIXED
    for (uint k = 0; k < sg; ++k) carry += totals[k];
#else
    for (uint k = sg + 1; k < 4; ++k) carry += totals[k];
#endif
    y[t] = inclusive + carry;  // BUG uninitialised-read
}
