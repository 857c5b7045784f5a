// Source: https://github.com/gunrock/gunrock/issues/324
// Lanes behind the end return, and the scan shuffles from them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.early_out]
//! threads = 64
//! threadgroup = 32
//! arguments.x = { shape = 64, dtype = "int32", fill = "iota" }
//! arguments.y = { shape = 64, dtype = "int32", fill = "zeros" }
//! arguments.n = 41
kernel void early_out(device const int* x, device int* y, constant uint& n,
                      uint i [[thread_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]]) {
#ifndef FIXED
    if (i >= n) return;
#endif
    int v = i < n ? x[i] : 0;
    for (ushort k = 1; k < 32; k *= 2) {
        int right = simd_shuffle_down(v, k);  // BUG inactive-lane-read
        if (lane + k < 32) v += right;
    }
    if (i < n) y[i] = v;
}
