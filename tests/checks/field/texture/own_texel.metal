// Source: https://github.com/gpuweb/gpuweb/issues/513
// A thread reads back the texel that it has just written, without a fence of the texture.
#include <metal_stdlib>
using namespace metal;

//! [kernel.own_texel]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void own_texel(texture2d<float, access::read_write> t [[texture(0)]],
                      device float* y [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
    t.write(float4(p.x, p.y, 0, 1), p);
#ifdef FIXED
    t.fence();
#endif
    y[p.y * 8 + p.x] = t.read(p).x;  // BUG texture-not-fenced
}
