// Source: written from memory of the class: derivatives by quad shuffles under a condition
// Only two lanes of a quad take the branch in which all four are asked.
#include <metal_stdlib>
using namespace metal;

//! [kernel.quad_edge]
//! threads = 64
//! threadgroup = 32
//! arguments.h = { shape = 64, fill = "random" }
//! arguments.dx = { shape = 64, fill = "zeros" }
kernel void quad_edge(device const float* h, device float* dx,
                      uint i [[thread_position_in_grid]]) {
    const float v = h[i];
    float d = 0;
#ifdef FIXED
    const float other = quad_shuffle_xor(v, ushort(2));
    if (i % 4 < 2) d = other - v;
#else
    if (i % 4 < 2) {
        d = quad_shuffle_xor(v, ushort(2)) - v;  // BUG inactive-lane-read
    }
#endif
    dx[i] = d;
}
