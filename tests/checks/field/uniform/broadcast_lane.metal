// Source: written from memory of the class: broadcast used as a shuffle
// Every lane asks for another lane, but a broadcast has one source for all.
#include <metal_stdlib>
using namespace metal;

//! [kernel.broadcast_lane]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
kernel void broadcast_lane(device const float* x, device float* y,
                           ushort lane [[thread_index_in_simdgroup]]) {
    const ushort from = lane / 8 * 8;
#ifdef FIXED
    y[lane] = simd_shuffle(x[lane], from);
#else
    y[lane] = simd_broadcast(x[lane], from);  // BUG non-uniform-argument
#endif
}
