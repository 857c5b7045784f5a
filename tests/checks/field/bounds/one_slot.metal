// Source: https://github.com/JuliaGPU/Metal.jl/issues/26
// Shared memory for one element, indexed by the thread.
#include <metal_stdlib>
using namespace metal;

//! [kernel.one_slot]
//! threadgroups = 1
//! threadgroup = 4
//! arguments.y = { shape = 4, dtype = "int16", fill = "zeros" }
kernel void one_slot(device short* y, uint t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    threadgroup short slot[4];
#else
    threadgroup short slot[1];
#endif
    slot[t] = 42;  // BUG out-of-bounds-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = slot[3 - t];
}
