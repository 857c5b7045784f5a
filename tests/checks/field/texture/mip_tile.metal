// Source: https://github.com/GPUOpen-Tools/GPU-Reshape/issues/57
// The next level is made from texels that other threads have just written, behind a barrier that
// does not count for textures.
#include <metal_stdlib>
using namespace metal;

//! [kernel.mip_tile]
//! threads = [16, 16, 1]
//! threadgroup = [16, 16, 1]
#ifdef FIXED
constant constexpr mem_flags FLAGS = mem_flags::mem_texture;
#else
constant constexpr mem_flags FLAGS = mem_flags::mem_threadgroup;
#endif
kernel void mip_tile(texture2d<float, access::read_write> base [[texture(0)]],
                     texture2d<float, access::write> level [[texture(1)]],
                     uint2 p [[thread_position_in_grid]]) {
    base.write(float4(float2(p), 0, 1), p);  // BUG weak-memory-flags
    threadgroup_barrier(FLAGS);
    if (p.x < 8 && p.y < 8) {
        float4 sum = base.read(2 * p) + base.read(2 * p + uint2(1, 0));  // MAYBE texture-not-fenced
        sum += base.read(2 * p + uint2(0, 1)) + base.read(2 * p + uint2(1, 1));  // WITH
        level.write(sum / 4, p);
    }
}
