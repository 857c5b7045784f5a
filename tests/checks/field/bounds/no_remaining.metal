// Source: https://github.com/ml-explore/mlx/pull/1577
// A lane without values left still fetches the scale of the group behind the row's end.
#include <metal_stdlib>
using namespace metal;

//! [kernel.no_remaining]
//! threads = 32
//! threadgroup = 32
//! arguments.w = { shape = 192, dtype = "uint8", fill = "iota" }
//! arguments.scales = { shape = 6, fill = "random" }
//! arguments.x = { shape = 192, fill = "random" }
//! arguments.y = { shape = 1, fill = "zeros" }
//! arguments.length = 192
kernel void no_remaining(device const uchar* w, device const float* scales, device const float* x,
                         device float* y, constant int& length,
                         ushort lane [[thread_index_in_simdgroup]]) {
    const int first = lane * 8, remaining = clamp(length - first, 0, 8);
    float sum = 0;
#ifdef FIXED
    if (remaining > 0) {
#else
    {
#endif
        const float scale = scales[first / 32];  // BUG out-of-bounds-read
        float dot = 0;
        for (int k = 0; k < remaining; ++k) dot += w[first + k] * x[first + k];
        sum = scale * dot;
    }
    sum = simd_sum(sum);
    if (lane == 0) y[0] = sum;
}
