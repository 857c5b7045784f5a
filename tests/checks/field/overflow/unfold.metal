// Source: https://github.com/ml-explore/mlx/pull/3143
// The row of an unfolded convolution is multiplied in 32 bits, then added to a pointer.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.unfold]
//! threads = 8
//! threadgroup = 8
//! arguments.x = { shape = 8, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
//! arguments.filter_size = 1073741836
//! arguments.length = 64
kernel void unfold(device const float* x, device float* y, constant uint& filter_size,
                   constant uint& length, uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const ulong offset = ulong(i) * filter_size + i;
#else
    const ulong offset = i * filter_size + i;  // BUG index-overflow
#endif
    device float* out = y + offset;
    if (offset < length) *out = x[i];
}
