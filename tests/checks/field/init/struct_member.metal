// Source: written from memory of the class: a result struct with a member left out
// The hit's index is set by the branch that hits, and stored for all.
#include <metal_stdlib>
using namespace metal;

//! [kernel.nearest]
//! threads = 32
//! threadgroup = 32
//! arguments.depth = { shape = 32, fill = "iota" }
//! arguments.hits = { shape = 64, dtype = "float32", fill = "zeros" }
struct Hit {
    float depth;
    uint index;
};

Hit cast_ray(device const float* depth, uint i) {
    Hit hit;
    hit.depth = 1e9f;
#ifdef FIXED
    hit.index = ~0u;
#endif
    if (depth[i] < 16) {
        hit.depth = depth[i];
        hit.index = i;
    }
    return hit;
}

kernel void nearest(device const float* depth, device float2* hits,
                    uint i [[thread_position_in_grid]]) {
    Hit hit = cast_ray(depth, i);
    hits[i] = float2(hit.depth, hit.index);  // BUG uninitialised-read
}
