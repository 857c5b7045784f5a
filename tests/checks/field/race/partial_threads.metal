// Source: https://github.com/tile-ai/tilelang/issues/2556
// 48 of 64 threads reverse a row, and the barrier for them was dropped.
#include <metal_stdlib>
using namespace metal;

//! [kernel.partial_threads]
//! threadgroups = 2
//! threadgroup = 64
//! arguments.x = { shape = 96, fill = "random" }
//! arguments.y = { shape = 96, fill = "zeros" }
kernel void partial_threads(device const float* x, device float* y,
                            uint t [[thread_index_in_threadgroup]],
                            uint group [[threadgroup_position_in_grid]]) {
    threadgroup float row[48];
    if (t < 48) {
        row[t] = x[group * 48 + t];  // BUG race-read-write
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (t < 48) {
        y[group * 48 + t] = row[47 - t];  // MAYBE uninitialised-read
    }
}
