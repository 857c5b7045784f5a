// Source: https://github.com/CanReader/FastNN/issues/8
// The unrolled end of a sum without simdgroup barriers between its steps.
// checks: lanes
#include <metal_stdlib>
using namespace metal;

//! [kernel.warp_sum]
//! threadgroups = 2
//! threadgroup = 64
//! arguments.x = { shape = 128, fill = "random" }
//! arguments.y = { shape = 2, fill = "zeros" }
#ifdef FIXED
#define STEP simdgroup_barrier(mem_flags::mem_threadgroup)
#else
#define STEP
#endif
kernel void warp_sum(device const float* x, device float* y,
                     uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                     uint group [[threadgroup_position_in_grid]]) {
    threadgroup float s[64];
    s[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 32) {
        float v = s[t] + s[t + 32];
        STEP;
        s[t] = v;  // BUG lane-race
        for (uint k = 16; k > 0; k /= 2) {
            STEP;
            v += s[t + k];  // WITH
            STEP;
            s[t] = v;  // MAYBE lane-race
        }
        if (t == 0) y[group] = v;
    }
}
