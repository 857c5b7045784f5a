// Source: written from memory of the class: variance as mean of squares less square of mean
// For values that are all alike the difference is a little below zero.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.variance]
//! threads = 4
//! threadgroup = 4
//! arguments.x = { shape = [4, 8], fill = 1000.1 }
//! arguments.y = { shape = 4, fill = "zeros" }
kernel void variance(device const float* x, device float* y,
                     uint row [[thread_position_in_grid]]) {
#pragma METAL fp contract(off)
    float sum = 0, squares = 0;
    for (uint k = 0; k < 8; ++k) {
        const float v = x[row * 8 + k];
        sum += v;
        squares += v * v;
    }
    const float mean = sum / 8;
    float var = squares / 8 - mean * mean - 0.5f;
#ifdef FIXED
    var = max(var, 0.0f);
#endif
    y[row] = sqrt(var);  // BUG nan-born
}
