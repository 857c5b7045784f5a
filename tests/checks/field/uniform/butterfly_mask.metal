// Source: https://github.com/tracel-ai/cubecl/pull/450
// A butterfly whose mask is computed from the lane itself.
#include <metal_stdlib>
using namespace metal;

//! [kernel.butterfly_mask]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void butterfly_mask(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]],
                           ushort lane [[thread_index_in_simdgroup]]) {
    float v = x[t];
    for (ushort k = 1; k < 32; k *= 2) {
#ifdef FIXED
        v += simd_shuffle_xor(v, k);
#else
        v += simd_shuffle_xor(v, ushort(k | (lane & 1)));  // BUG non-uniform-argument
#endif
    }
    y[t] = v;
}
