// Source: https://github.com/modular/mojo-gpu-puzzles/issues/9
// The last threads load no halo, and nobody puts zeros there.
#include <metal_stdlib>
using namespace metal;

//! [kernel.conv_tail]
//! threadgroups = 2
//! threadgroup = 8
//! arguments.a = { shape = 15, fill = "random" }
//! arguments.b = { shape = 4, fill = "random" }
//! arguments.y = { shape = 15, fill = "zeros" }
//! arguments.size = 15
kernel void conv_tail(device const float* a, device const float* b, device float* y,
                      constant uint& size, uint i [[thread_position_in_grid]],
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[8 + 3];
#ifdef FIXED
    s[t] = i < size ? a[i] : 0;
    if (t < 3) s[8 + t] = i + 8 < size ? a[i + 8] : 0;
#else
    if (i < size) s[t] = a[i];
    if (t < 3 && i + 8 < size) s[8 + t] = a[i + 8];
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint k = 0; k < 4; ++k) sum += s[t + k] * b[k];
    if (i < size) y[i] = sum;  // BUG uninitialised-read
}
