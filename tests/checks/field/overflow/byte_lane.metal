// Source: written from memory of the class: an index that is kept in a byte
// Positions within the tile pass 255.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.byte_lane]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 320, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void byte_lane(device const float* x, device float* y,
                      ushort t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    const ushort at = t * 5;
#else
    const uchar at = uchar(t * 5);  // BUG index-overflow
#endif
    y[t] = x[at];
}
