// Source: written from memory of the class: mean of an empty segment
// A bag without indices is divided by its length.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.bag_mean]
//! threads = 4
//! threadgroup = 4
//! arguments.offset = { shape = 5, dtype = "int32", fill = [0, 2, 2, 5, 6] }
//! arguments.x = { shape = 6, fill = "ones" }
//! arguments.mean = { shape = 4, fill = "zeros" }
kernel void bag_mean(constant int* offset, device const float* x, device float* mean,
                     uint i [[thread_position_in_grid]]) {
    float s = 0;
    const int n = offset[i + 1] - offset[i];
    for (int k = offset[i]; k < offset[i + 1]; ++k) s += x[k];
#ifdef FIXED
    mean[i] = s / max(n, 1);
#else
    mean[i] = s / n;  // BUG nan-born
#endif
}
