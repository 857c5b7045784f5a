// Source: written from memory of the class: quad_broadcast with a lane of each thread
// Each thread of a quad wants another neighbour.
#include <metal_stdlib>
using namespace metal;

//! [kernel.quad_pick]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
kernel void quad_pick(device const float* x, device float* y, uint i [[thread_position_in_grid]],
                      ushort q [[thread_index_in_quadgroup]]) {
    const ushort next = (q + 1) & 3;
#ifdef FIXED
    y[i] = quad_shuffle(x[i], next);
#else
    y[i] = quad_broadcast(x[i], next);  // BUG non-uniform-argument
#endif
}
