// Source: written from memory of the class: a stencil that is applied in place
// Neighbours in another threadgroup may be replaced before they are read.
#include <metal_stdlib>
using namespace metal;

//! [kernel.jacobi]
//! threads = [32, 16]
//! threadgroup = [16, 4]
//! arguments.u = { shape = [16, 32], fill = "random" }
//! arguments.v = { shape = [16, 32], fill = "zeros" }
#ifdef FIXED
#define TO v
#else
#define TO u
#endif
kernel void jacobi(device float* u, device float* v, uint2 p [[thread_position_in_grid]],
                   uint2 size [[threads_per_grid]]) {
    if (any(p == 0) || any(p + 1 == size)) return;
    const uint i = p.y * size.x + p.x;
    float s = u[i - 1] + u[i + 1];
    s += u[i - size.x] + u[i + size.x];  // WITH
    TO[i] = 0.25f * s;                   // BUG race-read-write
}
