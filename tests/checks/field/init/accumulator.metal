// Source: written from memory of the class: an accumulator without a first value
// The sum of a row starts from whatever the register held.
#include <metal_stdlib>
using namespace metal;

//! [kernel.row_sum]
//! threads = 64
//! threadgroup = 32
//! arguments.x = { shape = [64, 9], dtype = "float16", fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void row_sum(device const half* x, device float* y, uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    float acc = 0;
#else
    float acc;
#endif
    for (uint k = 0; k < 9; ++k) acc += x[i * 9 + k];
    y[i] = acc;  // BUG uninitialised-read
}
