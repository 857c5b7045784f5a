// Source: written from memory of the class: argmax with two arrays, one of them forgotten
// Values are reduced with a barrier per step, but the index is taken before its own store is done.
#include <metal_stdlib>
using namespace metal;

//! [kernel.argmax_pair]
//! threads = 128
//! threadgroup = 128
//! arguments.x = { shape = 128, fill = "random" }
//! arguments.where = { shape = 1, dtype = "uint32", fill = "zeros" }
kernel void argmax_pair(device const float* x, device uint* where,
                        uint t [[thread_position_in_threadgroup]]) {
    threadgroup float value[128];
    threadgroup uint index[128];
    value[t] = x[t];
#ifdef FIXED
    index[t] = t;
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifndef FIXED
    index[t] = t;  // WITH
#endif
    for (uint k = 64; k > 0; k /= 2) {
        if (t < k && value[t + k] > value[t]) {
            value[t] = value[t + k];
            index[t] = index[t + k];  // BUG race-read-write
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) *where = index[0];  // MAYBE uninitialised-read
}
