// Two buffers by turns, with loops within a loop.
#include <metal_stdlib>
using namespace metal;

//! [kernel.rounds_with_two_barriers]
//! threadgroup = 256
// assay: assume(groups.x == 1)
// assay: assume(n <= 1000000)
kernel void rounds_with_two_barriers(device float* x, device float* y, constant float& a,
                                     constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    for (uint round = 0; round < n; ++round) {
        for (uint i = 0; i < n; ++i) y[t] = a * x[t];
        threadgroup_barrier(mem_flags::mem_device);
        for (uint j = 0; j < n; ++j) x[t] = y[t + j];
        threadgroup_barrier(mem_flags::mem_device);
    }
}
