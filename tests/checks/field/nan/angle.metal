// Source: written from memory of the class: an angle of two vectors that rounding made too long
// The cosine is a little above one.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.angle]
//! threads = 8
//! threadgroup = 8
//! arguments.a = { shape = 8, fill = 1.5 }
//! arguments.y = { shape = 8, fill = "zeros" }
kernel void angle(device const float3* a, device float* y, uint i [[thread_position_in_grid]]) {
    const float3 unit = a[i] * 0.3849003f;
    float cosine = dot(unit, unit);
#ifdef FIXED
    cosine = clamp(cosine, -1.0f, 1.0f);
#endif
    y[i] = acos(cosine);  // BUG nan-born
}
