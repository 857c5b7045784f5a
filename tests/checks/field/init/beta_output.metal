// Source: https://github.com/NVIDIA/cccl/issues/1889
// The product is added to an output that was allocated but never written.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gemv_beta]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = [32, 8], fill = "random" }
//! arguments.x = { shape = 8, fill = "random" }
//! arguments.y = { shape = 32, fill = "uninitialised" }
//! arguments.beta = 0.0
kernel void gemv_beta(device const float* a, constant float* x, device float* y,
                      constant float& beta, uint i [[thread_position_in_grid]]) {
    float acc = 0;
    for (uint k = 0; k < 8; ++k) acc += a[i * 8 + k] * x[k];
#ifdef FIXED
    y[i] = beta == 0 ? acc : acc + beta * y[i];
#else
    y[i] = acc + beta * y[i];  // BUG uninitialised-read
#endif
}
