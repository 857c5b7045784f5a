// Source: written from memory of the class: softmax without the maximum taken off
// Large logits overflow in exp.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.plain_softmax]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = 95.0 }
//! arguments.y = { shape = 32, fill = "zeros" }
template <typename T> T stable_exp(T v, T m) {
#ifdef FIXED
    return exp(v - m);
#else
    return exp(v);  // BUG infinity-born
#endif
}

kernel void plain_softmax(device const float* x, device float* y,
                          uint lane [[thread_index_in_simdgroup]]) {
    const float e = stable_exp(x[lane], simd_max(x[lane]));
    y[lane] = e / simd_sum(e);  // MAYBE nan-born
}
