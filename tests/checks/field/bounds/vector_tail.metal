// Source: written from memory of the class: four elements at once, length no multiple of four
// The last float4 reaches behind the end of the buffer.
#include <metal_stdlib>
using namespace metal;

//! [kernel.vector_tail]
//! threads = 16
//! threadgroup = 16
//! arguments.x = { shape = 61, fill = "random" }
//! arguments.y = { shape = 61, fill = "zeros" }
//! arguments.n = 61
kernel void vector_tail(device const float* x, device float* y, constant uint& n,
                        uint i [[thread_position_in_grid]]) {
    const uint at = i * 4;
#ifdef FIXED
    if (at + 4 > n) {
        for (uint k = at; k < n; ++k) y[k] = fabs(x[k]);
        return;
    }
#else
    if (at >= n) return;
#endif
    const float4 v = *(device const float4*)(x + at);  // BUG out-of-bounds-read
    *(device float4*)(y + at) = fabs(v);
}
