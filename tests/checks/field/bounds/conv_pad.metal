// Source: written from memory of the class: convolution whose padding is tested on one side
// Columns left of the image are not skipped; rows are.
#include <metal_stdlib>
using namespace metal;

//! [kernel.conv_pad]
//! threads = [6, 6]
//! threadgroup = [6, 6]
//! arguments.x = { shape = [6, 6], fill = "random" }
//! arguments.w = { shape = 9, fill = "random" }
//! arguments.y = { shape = [6, 6], fill = "zeros" }
constant int KX = 3;

kernel void conv_pad(device const float* x, constant float* w, device float* y,
                     uint2 p [[thread_position_in_grid]]) {
    float acc = 0;
    for (int ky = 0; ky < 3; ++ky) {
        const int iy = int(p.y) + ky - 1;
        if (iy < 0 || iy >= 6) continue;
        for (int kx = 0; kx < KX; ++kx) {
            const int ix = int(p.x) + kx - 1;
#ifdef FIXED
            if (ix < 0 || ix >= 6) continue;
#else
            if (ix >= 6) continue;
#endif
            acc += w[ky * KX + kx] * x[iy * 6 + ix];  // BUG out-of-bounds-read
        }
    }
    y[p.y * 6 + p.x] = acc;
}
