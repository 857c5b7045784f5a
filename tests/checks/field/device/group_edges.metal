// Source: https://github.com/argonne-lcf/sycltrain/pull/22
// A barrier orders one threadgroup, but at its edges the values of the next one are read.
#include <metal_stdlib>
using namespace metal;

//! [kernel.group_edges]
//! threads = 128
//! threadgroup = 64
//! arguments.x = { shape = 128, fill = "iota" }
//! arguments.y = { shape = 128, fill = "zeros" }
kernel void group_edges(device float* x, device float* y, uint i [[thread_position_in_grid]],
                        uint t [[thread_position_in_threadgroup]]) {
    x[i] = sin(x[i]);  // WITH
    threadgroup_barrier(mem_flags::mem_device);
#ifdef FIXED
    y[i] = t > 0 ? x[i] - x[i - 1] : 0;
#else
    y[i] = i > 0 ? x[i] - x[i - 1] : 0;  // BUG race-read-write
#endif
}
