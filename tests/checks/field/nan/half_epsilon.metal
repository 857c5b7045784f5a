// Source: https://github.com/deepspeedai/DeepSpeed/issues/581
// Epsilon is added in float and is gone when the variance is kept as half.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.half_epsilon]
//! threads = 16
//! threadgroup = 16
//! arguments.var = { shape = 16, fill = "zeros" }
//! arguments.scale = { shape = 16, dtype = "float16", fill = "zeros" }
kernel void half_epsilon(device const float* var, device half* scale,
                         uint i [[thread_position_in_grid]]) {
    const float kept = var[i] + 1e-12f;
#ifdef FIXED
    scale[i] = half(min(rsqrt(kept), 1000.0f));
#else
    const half stored = half(kept);
    scale[i] = half(rsqrt(stored));  // BUG infinity-born
#endif
}
