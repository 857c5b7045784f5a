// Source: https://github.com/xlite-dev/LeetCUDA/pull/335
// Squares of activations are summed in half and pass 65504.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.half_squares]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, dtype = "float16", fill = 300.0 }
//! arguments.y = { shape = 32, dtype = "float16", fill = "zeros" }
#ifdef FIXED
typedef float Acc;
#else
typedef half Acc;
#endif
kernel void half_squares(device const half* x, device half* y,
                         uint lane [[thread_index_in_simdgroup]]) {
    const Acc v = x[lane];
    Acc square = v * v;  // BUG infinity-born
    const Acc total = simd_sum(square);
    y[lane] = half(v * rsqrt(float(total) / 32 + 1e-5f));
}
