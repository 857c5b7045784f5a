// Source: https://github.com/ORNL/HeCBench/issues/253
// A tile of surfels is loaded over the one that other simdgroups still read.
#include <metal_stdlib>
using namespace metal;

//! [kernel.splat_tile]
//! threads = 128
//! threadgroup = 64
//! arguments.surfels = { shape = 128, fill = "random" }
//! arguments.image = { shape = 128, fill = "zeros" }
//! arguments.count = 128
struct Surfel {
    packed_float3 centre;
    float radius;
};

kernel void splat_tile(device const float4* surfels, device float* image, constant uint& count,
                       uint pixel [[thread_position_in_grid]],
                       uint t [[thread_position_in_threadgroup]]) {
    threadgroup Surfel tile[64];
    float best = 1e9f;
    for (uint base = 0; base < count; base += 64) {
        float4 s = surfels[base + t];
        tile[t] = Surfel{packed_float3(s.xyz), s.w};  // BUG race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 64; ++i) {
            float d = distance(float3(tile[i].centre), float3(pixel, 0, 0));  // WITH
            best = min(best, d - tile[i].radius);                            // WITH
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    image[pixel] = best;
}
