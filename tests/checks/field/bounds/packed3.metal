// Source: https://github.com/KhronosGroup/SPIRV-Cross/issues/182
// The host sends vectors of 12 bytes, and the kernel reads float3, which has 16.
#include <metal_stdlib>
using namespace metal;

//! [kernel.centroids]
//! threads = 24
//! threadgroup = 24
//! arguments.points = { bytes = 288 }
//! arguments.length = { shape = 24, fill = "zeros" }
#ifdef FIXED
typedef packed_float3 Point;
#else
typedef float3 Point;
#endif
kernel void centroids(device const Point* points, device float* length,
                      uint i [[thread_position_in_grid]]) {
    const float3 p = points[i];  // BUG out-of-bounds-read
    length[i] = metal::length(p);
}
