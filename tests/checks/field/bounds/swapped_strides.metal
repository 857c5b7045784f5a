// Source: https://github.com/pytorch/pytorch/issues/170002
// Strides of a permuted tensor belong to other dimensions than they are multiplied with.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gather3]
//! threads = [5, 3, 2]
//! threadgroup = [5, 3, 2]
//! arguments.x = { shape = 30, dtype = "int32", fill = "iota" }
//! arguments.y = { shape = 30, dtype = "int32", fill = "zeros" }
//! arguments.strides = [6, 2, 1]
kernel void gather3(device const int* x, device int* y, constant uint3& strides,
                    uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {
#ifdef FIXED
    const uint from = dot(float3(p), float3(strides));
#else
    const uint from = dot(float3(p), float3(strides.xzy * uint3(1, 4, 3)));
#endif
    y[(p.z * n.y + p.y) * n.x + p.x] = x[from];  // BUG out-of-bounds-read
}
