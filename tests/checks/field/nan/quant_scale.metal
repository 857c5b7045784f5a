// Source: written from memory of the class: quantisation of a block of zeros
// The inverse of a scale that is zero.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.quant_scale]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "zeros" }
//! arguments.q = { shape = 32, dtype = "int8", fill = "zeros" }
kernel void quant_scale(device const float* x, device char* q,
                        uint lane [[thread_index_in_simdgroup]]) {
    const float top = simd_max(fabs(x[lane]));
    const float d = top / 127;
#ifdef FIXED
    const float id = d != 0 ? 1 / d : 0;
#else
    const float id = 1 / d;  // BUG infinity-born
#endif
    q[lane] = char(rint(clamp(x[lane] * id, -127.0f, 127.0f)));  // MAYBE nan-born
}
