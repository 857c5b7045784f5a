// Elements are added.
#include <metal_stdlib>
using namespace metal;

//! [kernel.vector_add]
//! threadgroup = 256
kernel void vector_add(device const float* a, device const float* b, device float* c,
                       constant uint& n, uint i [[thread_position_in_grid]]) {
    if (i < n) c[i] = a[i] + b[i];
}
