// Source: https://github.com/ORNL/HeCBench/issues/254
// One thread adds up the totals of the simdgroups, and everybody reads them at once.
#include <metal_stdlib>
using namespace metal;

//! [kernel.cubes_total]
//! threadgroups = 3
//! threadgroup = 128
//! arguments.kinds = { shape = 384, dtype = "uint8", fill = 3 }
//! arguments.places = { shape = 384, fill = "zeros" }
kernel void cubes_total(device const uchar* kinds, device uint* places,
                        uint i [[thread_position_in_grid]],
                        uint t [[thread_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint sums[5];
    uint mine = popcount(uint(kinds[i]));
    uint before = simd_prefix_exclusive_sum(mine);
    if (lane == 31) sums[sg] = before + mine;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
        uint total = 0;
        for (uint k = 0; k < 4; ++k) total += sums[k];
        sums[4] = total;  // BUG race-read-write
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    uint start = 0;
    for (uint k = 0; k < sg; ++k) start += sums[k];
    places[i] = (start + before) * 256 + sums[4];  // WITH
}
