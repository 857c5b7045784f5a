// Source: https://github.com/acts-project/acts/pull/307
// The barrier of a copy loop is under a condition on the thread's number.
#include <metal_stdlib>
using namespace metal;

//! [kernel.first_threads]
//! threads = 64
//! threadgroup = 64
//! arguments.seeds = { shape = 64, dtype = "int32", fill = "iota" }
//! arguments.out = { shape = 64, dtype = "int32", fill = "zeros" }
//! arguments.n = 40
kernel void first_threads(device const int* seeds, device int* out, constant uint& n,
                          uint t [[thread_position_in_threadgroup]]) {
    threadgroup int s[64];
    if (t < n) {
        s[t] = seeds[t];
#ifndef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
#endif
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (t < n) out[t] = s[n - 1 - t];
}
