// Source: written from memory of the class: an iteration that each thread ends for itself
// Threads whose own value has settled leave the loop, and the others wait for them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.converge]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, fill = "iota" }
kernel void converge(device float* x, uint t [[thread_position_in_threadgroup]]) {
    threadgroup float v[64];
    float mine = x[t];
    for (int step = 0; step < 8; ++step) {
        v[t] = mine;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        const float next = 0.5f * (mine + v[t ^ 1]);
        const bool settled = fabs(next - mine) < 1e-3f || mine < 10;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
#ifdef FIXED
        if (!settled) mine = next;
#else
        mine = next;
        if (settled) break;
#endif
    }
    x[t] = mine;
}
