// Source: written from memory of the class: a lookup table that is shorter than what asks it
// A local table of four scales is asked for a fifth.
#include <metal_stdlib>
using namespace metal;

//! [kernel.constant_index]
//! threads = 8
//! threadgroup = 8
//! arguments.y = { shape = 8, fill = "zeros" }
kernel void constant_index(device float* y, uint i [[thread_position_in_grid]]) {
    float scale[4] = {1, 0.5f, 0.25f, 0.125f};
    scale[i % 4] += i;
#ifdef FIXED
    y[i] = scale[3] + scale[i % 4];
#else
    y[i] = scale[4] + scale[i % 4];  // BUG constant-index|out-of-bounds-read
#endif
}
