// Source: https://github.com/CNugteren/CLBlast/pull/368
// The guard counts threads by the vector's width and forgets the work of each thread.
#include <metal_stdlib>
using namespace metal;

//! [kernel.xhad]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "random" }
//! arguments.z = { shape = 32, fill = "zeros" }
//! arguments.n = 128
#define VW 4
#define WPT 2
kernel void xhad(device const float4* x, device const float4* y, device float4* z,
                 constant int& n, uint id [[thread_position_in_grid]],
                 uint size [[threads_per_grid]]) {
#ifdef FIXED
    if (int(id) < n / (VW * WPT)) {
#else
    if (int(id) < n / VW) {
#endif
        for (uint w = 0; w < WPT; ++w) {
            const uint at = id * WPT + w;
            z[at] = x[at] * y[at];  // BUG out-of-bounds-read
        }
    }
}
