// Source: written from memory of the class: an image filter that writes into its input
// Texels of other threads are read while those replace them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.blur_in_place]
//! threads = [16, 16]
//! threadgroup = [16, 4]
kernel void blur_in_place(texture2d<float, access::read_write> image [[texture(0)]],
                          texture2d<float, access::write> out [[texture(1)]],
                          uint2 p [[thread_position_in_grid]]) {
    float4 sum = float4(p.x, p.y, 1, 1);
    for (uint dy = 0; dy < 3; ++dy) {
        sum += image.read(uint2(p.x, min(p.y + dy, 15u)));  // WITH
    }
#ifdef FIXED
    out.write(sum / 3, p);
#else
    image.write(sum / 3, p);  // BUG race-read-write
    out.write(sum, p);
#endif
}
