// Source: https://github.com/KhronosGroup/MoltenVK/issues/973
// Texels go from thread to thread, but the barrier publishes threadgroup memory only.
#include <metal_stdlib>
using namespace metal;

//! [kernel.neighbours]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.y = { shape = 64, fill = "zeros" }
kernel void neighbours(texture2d<float, access::read_write> t [[texture(0)]],
                       device float* y [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
    t.write(float4(p.x), p);  // WITH
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_texture);
    t.fence();
#else
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    y[p.y * 8 + p.x] = t.read(7 - p).x;  // BUG weak-memory-flags|race-read-write
}
