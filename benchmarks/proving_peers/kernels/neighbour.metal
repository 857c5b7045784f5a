// Each reads what its neighbour writes.
#include <metal_stdlib>
using namespace metal;

//! [kernel.neighbour]
//! threadgroup = 256
kernel void neighbour(device const float* x, device float* y, constant float& a, constant uint& n,
                      uint i [[thread_position_in_grid]]) {
    if (i < n) y[i] = a * x[i] + y[i + 1];
}
