// Running sums by shuffles, then of the simdgroups' totals.
#include <metal_stdlib>
using namespace metal;

//! [kernel.shuffled_scan]
//! threadgroup = 256
kernel void shuffled_scan(device int* data, device int* sums, uint t [[thread_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint i [[thread_position_in_grid]],
                          uint group [[threadgroup_position_in_grid]]) {
    threadgroup int totals[8];
    int value = data[i];
    for (ushort step = 1; step < 32; step *= 2) {
        int below = simd_shuffle_up(value, step);
        if (lane >= step) value += below;
    }
    if (lane == 31) totals[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0 && lane < 8) {
        int sum = totals[lane];
        for (ushort step = 1; step < 8; step *= 2) {
            int below = simd_shuffle_up(sum, step);
            if (lane >= step) sum += below;
        }
        totals[lane] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup > 0) value += totals[simdgroup - 1];
    data[i] = value;
    if (t == 255) sums[group] = value;
}
