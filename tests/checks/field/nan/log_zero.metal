// Source: written from memory of the class: cross entropy of a probability that is zero
// The logarithm of a class that never occurs.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.cross_entropy]
//! threads = 8
//! threadgroup = 8
//! arguments.p = { shape = 8, fill = [0.5, 0.25, 0, 0.25, 1, 0.125, 0.75, 0.5] }
//! arguments.loss = { shape = 8, fill = "zeros" }
kernel void cross_entropy(device const float* p, device float* loss,
                          uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    loss[i] = -log(max(p[i], 1e-30f));
#else
    loss[i] = -log(p[i]);  // BUG infinity-born
#endif
}
