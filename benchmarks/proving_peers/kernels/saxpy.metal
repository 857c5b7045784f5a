// A multiple is added.
#include <metal_stdlib>
using namespace metal;

//! [kernel.saxpy]
//! threadgroup = 256
kernel void saxpy(device const float* x, device float* y, constant float& a, constant uint& n,
                  uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = a * x[i] + y[i];
}
