// Source: written from memory of the class: convolution whose halo is loaded by a few threads
// The barrier stands before the halo is loaded, not after it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.conv_halo]
//! threadgroups = 3
//! threadgroup = 64
//! arguments.x = { shape = 196, fill = "random" }
//! arguments.w = { shape = 5, fill = "random" }
//! arguments.y = { shape = 192, fill = "zeros" }
kernel void conv_halo(device const float* x, constant float* w, device float* y,
                      uint i [[thread_position_in_grid]],
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64 + 4];
    s[t] = x[i];
#ifndef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (t < 4) {
        s[64 + t] = x[i + 64];  // BUG race-read-write
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    float acc = 0;
    for (uint k = 0; k < 5; ++k) {
        acc += w[k] * s[t + k];  // WITH
    }
    y[i] = acc;
}
