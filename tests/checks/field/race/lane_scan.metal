// Source: written from memory of the class: warp-synchronous scans without volatile or syncwarp
// Every lane adds what its neighbour has just replaced.
// checks: lanes
#include <metal_stdlib>
using namespace metal;

//! [kernel.lane_scan]
//! threadgroups = 1
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
#ifdef FIXED
#define STEP simdgroup_barrier(mem_flags::mem_threadgroup)
#else
#define STEP
#endif
kernel void lane_scan(device const float* x, device float* y,
                      uint t [[thread_index_in_threadgroup]]) {
    threadgroup float s[32];
    s[t] = x[t];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint d = 1; d < 32; d *= 2) {
        float left = t >= d ? s[t - d] : 0;  // WITH
        STEP;
        s[t] += left;  // BUG lane-race
        STEP;
    }
    y[t] = s[t];
}
