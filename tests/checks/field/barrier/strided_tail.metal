// Source: written from memory of the class: a barrier in a loop over strided elements
// The last round of the loop is run by the threads that still have an element.
#include <metal_stdlib>
using namespace metal;

//! [kernel.strided_tail]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 100, fill = "random" }
//! arguments.y = { shape = 100, fill = "zeros" }
//! arguments.n = 100
kernel void strided_tail(device const float* x, device float* y, constant uint& n,
                         uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[64];
#ifdef FIXED
    for (uint base = 0; base < n; base += 64) {
        const uint i = base + t;
        s[t] = i < n ? x[i] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < n) y[i] = s[t] + s[t ^ 32];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
#else
    for (uint i = t; i < n; i += 64) {
        s[t] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        y[i] = s[t] + s[t ^ 32];
        threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
    }
#endif
}
