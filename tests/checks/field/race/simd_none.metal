// Source: written from memory of the class: simdgroup_barrier(mem_none) between store and load
// Lanes hand their value to a neighbour through memory that the barrier does not publish.
// checks: lanes
#include <metal_stdlib>
using namespace metal;

//! [kernel.hand_over]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void hand_over(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64];
    s[t] = x[t];  // WITH
#ifdef FIXED
    simdgroup_barrier(mem_flags::mem_threadgroup);
#else
    simdgroup_barrier(mem_flags::mem_none);
#endif
    y[t] = s[t ^ 1];  // BUG lane-race|weak-memory-flags
}
