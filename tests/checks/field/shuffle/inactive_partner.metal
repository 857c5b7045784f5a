// Source: https://github.com/roastduck/FreeTensor/pull/450
// The lane that adds is tested, the lane whose value it adds is not.
#include <metal_stdlib>
using namespace metal;

//! [kernel.inactive_partner]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 20, fill = "random" }
//! arguments.y = { shape = 1, fill = "zeros" }
//! arguments.n = 20
kernel void inactive_partner(device const float* x, device float* y, constant uint& n,
                             uint t [[thread_index_in_simdgroup]]) {
#ifdef FIXED
    float v = t < n ? x[t] : 0;
    for (ushort k = 16; k > 0; k /= 2) v += simd_shuffle_down(v, k);
    if (t == 0) y[0] = v;
#else
    if (t < n) {
        float v = x[t];
        for (ushort k = 16; k > 0; k /= 2) {
            v += simd_shuffle_down(v, k);  // BUG inactive-lane-read
        }
        if (t == 0) y[0] = v;
    }
#endif
}
