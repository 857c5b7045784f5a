// Source: written from memory of the class: a shared flag ends a loop
// The flag for the next sweep is cleared while other simdgroups still test that of this one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.relax]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, fill = "iota" }
kernel void relax(device float* x, uint t [[thread_position_in_threadgroup]]) {
    threadgroup float v[64];
    threadgroup bool changed;
    v[t] = x[t];
    for (uint sweep = 0; sweep < 4; ++sweep) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t == 0) {
            changed = sweep < 2;
        }
        float left = v[t > 0 ? t - 1 : t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v[t] = 0.5f * (v[t] + left);
#ifndef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t == 0) {
            changed = changed && v[63] > 1;  // BUG race-read-write
        }
#endif
        if (!changed) break;  // WITH
    }
    x[t] = v[t];
}
