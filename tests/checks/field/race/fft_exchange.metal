// Source: written from memory of the class: FFT that exchanges parts through one array
// Real parts and then imaginary parts use the array; the second store comes too soon.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fft_exchange]
//! threads = 64
//! threadgroup = 64
//! arguments.z = { shape = 64, fill = "random" }
kernel void fft_exchange(device float2* z, uint t [[thread_position_in_threadgroup]]) {
    threadgroup float swap[64];
    float2 v = z[t];
    for (uint span = 32; span > 0; span /= 2) {
        float2 other;
        swap[t] = v.x;  // MAYBE race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        other.x = swap[t ^ span];  // WITH
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        swap[t] = v.y;  // BUG race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        other.y = swap[t ^ span];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        v = t & span ? other - v : other + v;
    }
    z[t] = v;
}
