// Resizing of images in buffers: nearest, bilinear and bicubic, and colours on the way.
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

typedef struct {
    vector_uint2 from;
    vector_uint2 to;
    unsigned int channels;
    bool align_corners;
} ResizeParams;

inline float source_position(uint at, uint from, uint to, bool align_corners) {
    if (align_corners) {
        return to > 1 ? at * float(from - 1) / float(to - 1) : 0.0f;
    }
    return (at + 0.5f) * from / to - 0.5f;
}

kernel void nearest(const device uchar4* source [[buffer(0)]], device uchar4* target [[buffer(1)]],
                    constant ResizeParams& p [[buffer(2)]], ushort2 gid [[thread_position_in_grid]]) {
    const uint2 at = min(uint2(float2(gid) * float2(p.from) / float2(p.to)), p.from - 1);
    target[gid.y * p.to.x + gid.x] = source[at.y * p.from.x + at.x].bgra;
}

kernel void bilinear(const device float* source [[buffer(0)]], device float* target [[buffer(1)]],
                     constant ResizeParams& p [[buffer(2)]], uint3 gid [[thread_position_in_grid]]) {
    const float2 at = float2(source_position(gid.x, p.from.x, p.to.x, p.align_corners),
                             source_position(gid.y, p.from.y, p.to.y, p.align_corners));
    const float2 inside = clamp(at, 0.0f, float2(p.from - 1));
    const uint2 low = uint2(inside), high = min(low + 1, p.from - 1);
    const float2 f = fract(inside);
    const device float* plane = source + gid.z * p.from.x * p.from.y;
    const float top = mix(plane[low.y * p.from.x + low.x], plane[low.y * p.from.x + high.x], f.x);
    const float bottom = mix(plane[high.y * p.from.x + low.x], plane[high.y * p.from.x + high.x], f.x);
    target[(gid.z * p.to.y + gid.y) * p.to.x + gid.x] = mix(top, bottom, f.y);
}

inline float4 cubic_weights(float t) {
    constexpr float a = -0.75f;
    const auto near = [](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    return float4(far(t + 1), near(t), near(1 - t), far(2 - t));
}

template <typename T>
kernel void bicubic(const device T* source [[buffer(0)]], device T* target [[buffer(1)]],
                    constant ResizeParams& p [[buffer(2)]], uint3 gid [[thread_position_in_grid]]) {
    const float2 at = float2(source_position(gid.x, p.from.x, p.to.x, p.align_corners),
                             source_position(gid.y, p.from.y, p.to.y, p.align_corners));
    const int2 base = int2(floor(at));
    const float4 wx = cubic_weights(at.x - base.x), wy = cubic_weights(at.y - base.y);
    float4 rows;
    for (int i = 0; i < 4; ++i) {
        const int y = clamp(base.y - 1 + i, 0, int(p.from.y) - 1);
        float4 values;
        for (int j = 0; j < 4; ++j) {
            const int x = clamp(base.x - 1 + j, 0, int(p.from.x) - 1);
            values[j] = source[(gid.z * p.from.y + y) * p.from.x + x];
        }
        rows[i] = dot(values, wx);
    }
    target[(gid.z * p.to.y + gid.y) * p.to.x + gid.x] = static_cast<T>(dot(rows, wy));
}
template [[host_name("bicubic_float")]] kernel void bicubic<float>(
    const device float*, device float*, constant ResizeParams&, uint3);
template [[host_name("bicubic_half")]] kernel void bicubic<half>(
    const device half*, device half*, constant ResizeParams&, uint3);

// Luma and two chroma planes of half the size to packed colours.
kernel void yuv_to_rgb(const device uchar* luma [[buffer(0)]], const device uchar2* chroma [[buffer(1)]],
                       device packed_uchar3* rgb [[buffer(2)]], constant float3x3& matrix [[buffer(3)]],
                       constant uint2& size [[buffer(4)]], uint2 gid [[thread_position_in_grid]]) {
    float3 yuv;
    yuv.x = luma[gid.y * size.x + gid.x] / 255.0;
    yuv.yz = float2(chroma[gid.y / 2 * (size.x / 2) + gid.x / 2]) / 255.0 - 0.5;
    rgb[gid.y * size.x + gid.x] = packed_uchar3(uchar3(saturate(matrix * yuv) * 255.0 + 0.5));
}
