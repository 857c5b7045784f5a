// Source: written from memory of the class: an optional argument that is read all the same
// Without a bias the host binds nothing of use, but the constant is tested the wrong way round.
#include <metal_stdlib>
using namespace metal;

//! [kernel.no_bias]
//! threads = 16
//! threadgroup = 16
//! constants.has_bias = false
//! arguments.x = { shape = 16, fill = "random" }
//! arguments.bias = { shape = 1, fill = "zeros" }
//! arguments.y = { shape = 16, fill = "zeros" }
constant bool has_bias [[function_constant(0)]];

kernel void no_bias(device const float* x, device const float* bias, device float* y,
                    uint i [[thread_position_in_grid]]) {
    float v = x[i];
#ifdef FIXED
    if (has_bias) {
#else
    if (!has_bias) {
#endif
        v += bias[i];  // BUG out-of-bounds-read
    }
    y[i] = v;
}
