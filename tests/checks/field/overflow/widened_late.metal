// Source: https://github.com/ROCm/composable_kernel/issues/3722
// The product is computed in 32 bits, and the sum is in 64.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.widened_late]
//! threads = 3
//! threadgroup = 3
//! arguments.x = { shape = 60, fill = "random" }
//! arguments.y = { shape = 3, fill = "zeros" }
//! arguments.lengths = [3, 70000]
//! arguments.strides = [1, 70000]
kernel void widened_late(device const float* x, device float* y, constant uint2& lengths,
                         constant uint2& strides, uint i [[thread_position_in_grid]]) {
    ulong size = 1;
    for (int d = 0; d < 2; ++d) {
#ifdef FIXED
        size += ulong(lengths[d] - 1) * strides[d];
#else
        size += (lengths[d] - 1) * strides[d];  // BUG index-overflow
#endif
    }
    y[i] = x[(size + i) % 60];
}
