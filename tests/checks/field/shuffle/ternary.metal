// Source: written from memory of the class: a shuffle in one arm of a conditional
// Lanes of the other arm do not take part, though they are read from.
#include <metal_stdlib>
using namespace metal;

//! [kernel.ternary]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, dtype = "float16", fill = "random" }
//! arguments.y = { shape = 32, dtype = "float16", fill = "zeros" }
kernel void ternary(device const half* x, device half* y,
                    ushort lane [[thread_index_in_simdgroup]]) {
    const half v = x[lane];
#ifdef FIXED
    const half up = simd_shuffle_xor(v, 1);
    y[lane] = lane & 1 ? -up : v;
#else
    y[lane] = lane & 1 ? -simd_shuffle_xor(v, 1) : v;  // BUG inactive-lane-read
#endif
}
