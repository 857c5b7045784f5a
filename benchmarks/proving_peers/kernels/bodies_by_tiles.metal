// Bodies that pull at each other, a tile of them at a time.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bodies_by_tiles]
//! threadgroup = 256
kernel void bodies_by_tiles(device const float4* in, device float4* out, constant uint& count,
                            uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
    threadgroup float4 tile[256];
    float4 mine = in[i];
    float3 pull = 0;
    for (uint first = 0; first < count; first += 256) {
        tile[t] = in[first + t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 256; ++k) {
            float3 way = tile[k].xyz - mine.xyz;
            pull += way * rsqrt(dot(way, way) + 0.01f);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = float4(mine.xyz + pull, mine.w);
}
