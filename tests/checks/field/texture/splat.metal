// Source: written from memory of the class: points drawn into an image without atomics
// Several points fall on one texel and write other colours.
#include <metal_stdlib>
using namespace metal;

//! [kernel.splat]
//! threads = 64
//! threadgroup = 32
kernel void splat(texture2d<float, access::write> image [[texture(0)]],
                  uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint2 p = uint2(i % 8, i / 8);
#else
    const uint2 p = uint2(i % 8, i / 16);
#endif
    image.write(float4(i), p);  // BUG race-write-write
}
