// Source: https://github.com/ROCm-Developer-Tools/llvm-project/pull/5
// The sum of a short row is taken inside the guard, where the lanes above take no part.
#include <metal_stdlib>
using namespace metal;

//! [kernel.guarded]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 20, fill = "random" }
//! arguments.y = { shape = 1, fill = "zeros" }
//! arguments.n = 20
kernel void guarded(device const float* x, device float* y, constant uint& n,
                    uint lane [[thread_index_in_simdgroup]]) {
    float v = 0;
#ifdef FIXED
    if (lane < n) v = x[lane];
    for (ushort k = 16; k > 0; k /= 2) v += simd_shuffle_down(v, k);
    if (lane == 0) *y = v;
#else
    if (lane < n) {
        v = x[lane];
        for (ushort k = 16; k > 0; k /= 2) {
            v += simd_shuffle_down(v, k);  // BUG inactive-lane-read
        }
        if (lane == 0) *y = v;
    }
#endif
}
