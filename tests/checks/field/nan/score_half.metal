// Source: https://github.com/philipturner/metal-flash-attention/issues/8
// The product of queries and keys is scaled only after it has left the range of half.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.score_half]
//! threads = 8
//! threadgroup = 8
//! arguments.q = { shape = 64, dtype = "float16", fill = 40 }
//! arguments.k = { shape = [8, 64], dtype = "float16", fill = 40 }
//! arguments.y = { shape = 8, dtype = "float16", fill = "zeros" }
kernel void score_half(device const half* q, device const half* k, device half* y,
                       uint i [[thread_position_in_grid]]) {
    half sum = 0;
    for (int d = 0; d < 64; ++d) {
#ifdef FIXED
        sum += (q[d] * 0.125h) * k[i * 64 + d];
#else
        sum += q[d] * k[i * 64 + d];  // BUG infinity-born
#endif
    }
#ifndef FIXED
    sum *= 0.125h;
#endif
    y[i] = sum;
}
