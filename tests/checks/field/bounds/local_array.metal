// Source: https://github.com/xlite-dev/LeetCUDA/pull/335
// Each thread keeps its values in registers; there are more steps than places.
#include <metal_stdlib>
using namespace metal;

//! [kernel.keep_values]
//! threads = 8
//! threadgroup = 8
//! arguments.x = { shape = 40, fill = "random" }
//! arguments.y = { shape = 40, fill = "zeros" }
//! arguments.n = 40
kernel void keep_values(device const float* x, device float* y, constant uint& n,
                        uint t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    float keep[5];
#else
    float keep[4];
#endif
    float s = 0;
    uint k = 0;
    for (uint i = t; i < n; i += 8) {
        keep[k] = x[i];  // BUG out-of-bounds-write
        s += keep[k++];
    }
    for (uint i = t, j = 0; i < n; i += 8) y[i] = keep[j++] - s;
}
