// Source: written from memory of the class: bilinear interpolation at the lower edge
// The row below the last one is read, though its weight is zero.
#include <metal_stdlib>
using namespace metal;

//! [kernel.upsample]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.x = { shape = [4, 4], fill = "random" }
//! arguments.y = { shape = [8, 8], fill = "zeros" }
kernel void upsample(device const float* x, device float* y,
                     uint2 p [[thread_position_in_grid]]) {
    const float2 at = float2(p) * (3.0f / 7.0f);
    const int2 low = int2(floor(at));
#ifdef FIXED
    const int2 high = min(low + 1, 3);
#else
    const int2 high = int2(min(low.x + 1, 3), low.y + 1);
#endif
    const float2 f = at - float2(low);
    const float a = mix(x[low.y * 4 + low.x], x[low.y * 4 + high.x], f.x);
    const float b = mix(x[high.y * 4 + low.x], x[high.y * 4 + high.x], f.x);  // BUG out-of-bounds-read
    y[p.y * 8 + p.x] = mix(a, b, f.y);
}
