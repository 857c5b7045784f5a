// Source: written from memory of the class: double-buffered tiles, one of them too early
// The next tile goes to the buffer that is being read instead of the other one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gemv_pipelined]
//! threads = 64
//! threadgroup = 64
//! arguments.a = { shape = [64, 64], fill = "random" }
//! arguments.x = { shape = 64, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void gemv_pipelined(device const float* a, device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
    threadgroup float piece[2][16];
    if (t < 16) piece[0][t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float acc = 0;
    for (uint k = 0; k < 4; ++k) {
        const uint now = k & 1;
#ifdef FIXED
        const uint next = now ^ 1;
#else
        const uint next = now;
#endif
        if (t < 16 && k < 3) {
            piece[next][t] = x[(k + 1) * 16 + t];  // BUG race-read-write
        }
        for (uint i = 0; i < 16; ++i) {
            acc += a[t * 64 + k * 16 + i] * piece[now][i];  // WITH
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[t] = acc;  // MAYBE uninitialised-read
}
