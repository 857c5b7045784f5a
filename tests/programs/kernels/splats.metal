// Gaussian splats: projection, binning to tiles by keys, ranges of tiles, blending front to back.
#include <metal_stdlib>
using namespace metal;

#define TILE 16
#define BATCH 64

struct Camera {
    float4x4 view;
    float2 focal;
    uint2 size;
};

struct Splat {
    packed_float3 position;
    packed_float3 scale;
    float4 rotation;  // quaternion, w first
    packed_half4 colour;
};

struct Projected {
    float2 centre;
    float depth;
    uint tiles;
    packed_float3 conic;  // of the inverse covariance: xx, xy, yy
    half4 colour;
    ushort4 box;          // of tiles: first x, first y, end x, end y
};

inline float3x3 turned(float4 q) {
    const float w = q.x, x = q.y, y = q.z, z = q.w;
    return float3x3(float3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
                    float3(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
                    float3(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)));
}

kernel void project(device const Splat* splats [[buffer(0)]], device Projected* out [[buffer(1)]],
                    constant Camera& camera [[buffer(2)]], constant uint& count [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i >= count) return;
    const Splat splat = splats[i];
    Projected result = {};
    const float3 p = (camera.view * float4(float3(splat.position), 1)).xyz;
    if (p.z > 0.2f) {
        const float3x3 scaled = turned(normalize(splat.rotation)) *
            float3x3(float3(splat.scale[0], 0, 0), float3(0, splat.scale[1], 0), float3(0, 0, splat.scale[2]));
        const float3x3 world = scaled * transpose(scaled);
        const float3x3 view = float3x3(camera.view[0].xyz, camera.view[1].xyz, camera.view[2].xyz);
        const float2x3 rows = float2x3(float3(camera.focal.x / p.z, 0, -camera.focal.x * p.x / (p.z * p.z)),
                                       float3(0, camera.focal.y / p.z, -camera.focal.y * p.y / (p.z * p.z)));
        const float2x3 jacobian = transpose(view) * rows;
        const float2x2 covariance = transpose(jacobian) * (world * jacobian) + float2x2(0.3f);
        const float det = determinant(covariance);
        result.centre = camera.focal * p.xy / p.z + float2(camera.size) * 0.5f;
        result.depth = p.z;
        result.conic = packed_float3(covariance[1][1] / det, -covariance[0][1] / det, covariance[0][0] / det);
        result.colour = half4(splat.colour);
        const float middle = 0.5f * (covariance[0][0] + covariance[1][1]);
        const float radius = ceil(3.0f * sqrt(middle + sqrt(max(0.1f, middle * middle - det))));
        const int2 tiles = int2((camera.size + TILE - 1) / TILE);
        const int2 low = clamp(int2(floor((result.centre - radius) / TILE)), 0, tiles);
        const int2 high = clamp(int2(floor((result.centre + radius) / TILE)) + 1, 0, tiles);
        result.box = ushort4(ushort2(low), ushort2(high));
        result.tiles = uint((high.x - low.x) * (high.y - low.y));
    }
    out[i] = result;
}

// A key is the tile and then the depth; a splat's keys start where those of before end.
kernel void make_keys(device const Projected* projected [[buffer(0)]], device const uint* starts [[buffer(1)]],
                      device ulong* keys [[buffer(2)]], device uint* owners [[buffer(3)]],
                      constant uint& tiles_across [[buffer(4)]], uint i [[thread_position_in_grid]]) {
    uint at = starts[i];
    const ushort4 box = projected[i].box;
    for (ushort y = box.y; y < box.w; ++y) {
        for (ushort x = box.x; x < box.z; ++x, ++at) {
            keys[at] = (ulong(y * tiles_across + x) << 32) | as_type<uint>(projected[i].depth);
            owners[at] = i;
        }
    }
}

kernel void find_ranges(device const ulong* keys [[buffer(0)]], device uint2* ranges [[buffer(1)]],
                        constant uint& count [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i >= count) return;
    const uint tile = keys[i] >> 32;
    if (i == 0 || uint(keys[i - 1] >> 32) != tile) ranges[tile].x = i;
    if (i == count - 1 || uint(keys[i + 1] >> 32) != tile) ranges[tile].y = i + 1;
}

// A tile's splats come in batches through threadgroup memory, until all its pixels are opaque.
[[kernel, max_total_threads_per_threadgroup(TILE * TILE)]]
void blend(device const Projected* projected [[buffer(0)]], device const uint* owners [[buffer(1)]],
           device const uint2* ranges [[buffer(2)]], device half4* image [[buffer(3)]],
           constant uint2& size [[buffer(4)]], ushort2 lid [[thread_position_in_threadgroup]],
           uint2 tile [[threadgroup_position_in_grid]], uint2 tiles [[threadgroups_per_grid]],
           ushort tid [[thread_index_in_threadgroup]]) {
    threadgroup float2 centres[BATCH];
    threadgroup float3 conics[BATCH];
    threadgroup half4 colours[BATCH];
    threadgroup atomic_uint open_pixels;
    const uint2 at = tile * TILE + uint2(lid);
    const bool inside = at.x < size.x && at.y < size.y;
    const uint2 range = ranges[tile.y * tiles.x + tile.x];
    float4 sum = 0;
    float left = 1;
    bool done = !inside;
    for (uint first = range.x; first < range.y; first += BATCH) {
        if (tid == 0) {
            atomic_store_explicit(&open_pixels, 0u, memory_order_relaxed);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simd_any(!done) && simd_is_first()) {
            atomic_fetch_add_explicit(&open_pixels, 1u, memory_order_relaxed);
        }
        if (tid < BATCH && first + tid < range.y) {
            const device Projected& p = projected[owners[first + tid]];
            centres[tid] = p.centre;
            conics[tid] = p.conic;
            colours[tid] = p.colour;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const bool all_done = atomic_load_explicit(&open_pixels, memory_order_relaxed) == 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (all_done) break;
        const uint count = min(uint(BATCH), range.y - first);
        for (uint i = 0; i < count && !done; ++i) {
            const float2 d = centres[i] - (float2(at) + 0.5f);
            const float3 c = conics[i];
            const float power = -0.5f * (c.x * d.x * d.x + c.z * d.y * d.y) - c.y * d.x * d.y;
            if (power > 0) continue;
            const float alpha = min(0.99f, float(colours[i].w) * exp(power));
            if (alpha < 1.0f / 255) continue;
            sum += float4(float3(colours[i].xyz) * alpha, alpha) * left;
            left *= 1 - alpha;
            done = left < 1e-3f;
        }
    }
    if (inside) {
        image[at.y * size.x + at.x] = half4(sum);
    }
}
