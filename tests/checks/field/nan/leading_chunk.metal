// Source: https://github.com/pytorch/pytorch/pull/187456
// An online softmax whose first chunk is masked: the old maximum and the new one are both -inf.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.leading_chunk]
//! threads = 8
//! threadgroup = 8
//! arguments.x = { shape = [8, 6], fill = -inf }
//! arguments.lse = { shape = 8, fill = "zeros" }
kernel void leading_chunk(device const float* x, device float* lse,
                          uint row [[thread_position_in_grid]]) {
    float m = -INFINITY, sum = 0;
    for (uint k = 0; k < 6; ++k) {
        const float v = k < 3 ? x[row * 6 + k] : float(k);
        const float next = max(m, v);
#ifdef FIXED
        const float scale = next > -INFINITY ? exp(m - next) : 0;
        const float term = next > -INFINITY ? exp(v - next) : 0;
#else
        const float scale = exp(m - next);  // BUG nan-born
        const float term = exp(v - next);   // MAYBE nan-born
#endif
        sum = sum * scale + term;
        m = next;
    }
    lse[row] = m + log(sum);
}
