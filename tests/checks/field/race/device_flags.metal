// Source: https://github.com/JuliaGPU/Metal.jl/issues/608
// Neighbours are exchanged through device memory, and the barrier covers threadgroup memory alone.
#include <metal_stdlib>
using namespace metal;

//! [kernel.exchange]
//! threads = 192
//! threadgroup = 96
//! arguments.x = { shape = 192, fill = "iota" }
//! arguments.y = { shape = 192, fill = "zeros" }
kernel void exchange(device float* x, device float* y, uint i [[thread_position_in_grid]],
                     uint t [[thread_position_in_threadgroup]]) {
    x[i] = x[i] * 2 + 1;  // WITH
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
#else
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    y[i] = t == 95 ? 0 : x[i + 1];  // BUG weak-memory-flags
}
