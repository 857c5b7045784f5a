// Source: https://github.com/Lulzx/cuda-metal/issues/5
// Whole threadgroups are dispatched, and the threads behind the end are not told apart.
#include <metal_stdlib>
using namespace metal;

//! [kernel.whole_groups]
//! threadgroups = [2, 2]
//! threadgroup = [8, 4]
//! arguments.a = { shape = [7, 13], fill = "random" }
//! arguments.y = { shape = [7, 13], fill = "zeros" }
//! arguments.size = [13, 7]
kernel void whole_groups(device const float* a, device float* y, constant uint2& size,
                         uint2 p [[thread_position_in_grid]]) {
#ifdef FIXED
    if (any(p >= size)) return;
#else
    if (p.x >= size.x) return;
#endif
    y[p.y * size.x + p.x] = a[p.y * size.x + p.x] * 2;  // BUG out-of-bounds-read
}
