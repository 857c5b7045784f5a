// Neighbours along a diagonal.
#include <metal_stdlib>
using namespace metal;

//! [kernel.along_the_diagonal]
//! threadgroup = 256
// assay: assume(n <= 1000)
kernel void along_the_diagonal(device const float* x, device float* y, constant float& a,
                               constant uint& n, uint i [[thread_position_in_grid]]) {
    if (i < n) y[i * 1024 + i] = a * x[i] + y[(i + 1) * 1024 + i + 1];
}
