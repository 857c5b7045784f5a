// Running sums within each simdgroup.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan_in_step]
//! threadgroup = 256
kernel void scan_in_step(device const int* in, device int* out, uint t [[thread_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint i [[thread_position_in_grid]]) {
    threadgroup int sums[256];
    sums[t] = in[i];
    for (uint step = 1; step < 32; step *= 2) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (lane >= step) sums[t] += sums[t - step];
    }
    out[i] = sums[t];
}
