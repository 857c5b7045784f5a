// Convolutions of images: direct, depthwise, by Winograd's F(2x2, 3x3), transposed; pooling.
#include <metal_stdlib>
using namespace metal;

struct ConvParams {
    int batch, in_channels, in_height, in_width;
    int out_channels, out_height, out_width;
    int kernel_h, kernel_w;
    int stride, padding, dilation, groups;
};

// NCHW, one output element per thread; weights (out, in / groups, kh, kw).
template <typename T, typename Acc>
kernel void conv2d(device const T* x [[buffer(0)]], device const T* w [[buffer(1)]],
                   device const T* bias [[buffer(2)]], device T* y [[buffer(3)]],
                   constant ConvParams& p [[buffer(4)]], uint3 gid [[thread_position_in_grid]]) {
    if (any(gid.xy >= uint2(p.out_width, p.out_height))) {
        return;
    }
    const int n = gid.z / p.out_channels, oc = gid.z % p.out_channels;
    const int per_group = p.in_channels / p.groups;
    const int group = oc / (p.out_channels / p.groups);
    Acc sum = bias[oc];
    for (int c = 0; c < per_group; ++c) {
        device const T* plane = x + (n * p.in_channels + group * per_group + c) * p.in_height * p.in_width;
        device const T* taps = w + (oc * per_group + c) * p.kernel_h * p.kernel_w;
        for (int i = 0; i < p.kernel_h; ++i) {
            const int row = int(gid.y) * p.stride - p.padding + i * p.dilation;
            if (row < 0 || row >= p.in_height) continue;
            for (int j = 0; j < p.kernel_w; ++j) {
                const int column = int(gid.x) * p.stride - p.padding + j * p.dilation;
                if (column < 0 || column >= p.in_width) continue;
                sum = fma(Acc(plane[row * p.in_width + column]), Acc(taps[i * p.kernel_w + j]), sum);
            }
        }
    }
    y[(gid.z * p.out_height + gid.y) * p.out_width + gid.x] = T(sum);
}
template [[host_name("conv2d_float")]] kernel void conv2d<float, float>(
    device const float*, device const float*, device const float*, device float*,
    constant ConvParams&, uint3);
template [[host_name("conv2d_half")]] kernel void conv2d<half, float>(
    device const half*, device const half*, device const half*, device half*,
    constant ConvParams&, uint3);

// Four channels at a time in NHWC/4; the tile with its edge lies in threadgroup memory.
#define TILE 8
kernel void depthwise3x3(device const half4* x [[buffer(0)]], device const half4* w [[buffer(1)]],
                         device half4* y [[buffer(2)]], constant ConvParams& p [[buffer(3)]],
                         ushort2 lid [[thread_position_in_threadgroup]],
                         ushort3 tgid [[threadgroup_position_in_grid]]) {
    threadgroup half4 tile[TILE + 2][TILE + 2];
    const int planes = p.in_channels / 4;
    const int2 origin = int2(tgid.xy) * TILE - 1;
    for (ushort i = lid.y * TILE + lid.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        const int2 at = origin + int2(i % (TILE + 2), i / (TILE + 2));
        const bool inside = all(at >= 0) && all(at < int2(p.in_width, p.in_height));
        tile[i / (TILE + 2)][i % (TILE + 2)] =
            inside ? x[(at.y * p.in_width + at.x) * planes + tgid.z] : half4(0);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const ushort2 out = tgid.xy * ushort(TILE) + lid;
    if (out.x >= p.in_width || out.y >= p.in_height) return;
    float4 sum = 0;
    for (ushort i = 0; i < 3; ++i) {
        for (ushort j = 0; j < 3; ++j) {
            sum += float4(tile[lid.y + i][lid.x + j]) * float4(w[(i * 3 + j) * planes + tgid.z]);
        }
    }
    y[(out.y * p.in_width + out.x) * planes + tgid.z] = half4(clamp(sum, 0.0f, 6.0f));
}

// Winograd: weights to 4x4, tiles of 4x4 that overlap by 2, products, and back to 2x2.
kernel void winograd_weights(device const float* w [[buffer(0)]], device float* u [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    device const float* g = w + 9 * i;
    float t[4][3];
    for (int c = 0; c < 3; ++c) {
        t[0][c] = g[c];
        t[1][c] = 0.5f * (g[c] + g[3 + c] + g[6 + c]);
        t[2][c] = 0.5f * (g[c] - g[3 + c] + g[6 + c]);
        t[3][c] = g[6 + c];
    }
    for (int r = 0; r < 4; ++r) {
        u[16 * i + 4 * r + 0] = t[r][0];
        u[16 * i + 4 * r + 1] = 0.5f * (t[r][0] + t[r][1] + t[r][2]);
        u[16 * i + 4 * r + 2] = 0.5f * (t[r][0] - t[r][1] + t[r][2]);
        u[16 * i + 4 * r + 3] = t[r][2];
    }
}
METAL_FUNC float4 winograd_input(float4 d) {
    return float4(d.x - d.z, d.y + d.z, d.z - d.y, d.y - d.w);
}
METAL_FUNC float2 winograd_output(float4 m) { return float2(m.x + m.y + m.z, m.y - m.z - m.w); }

kernel void winograd(device const float* x [[buffer(0)]], device const float4x4* u [[buffer(1)]],
                     device float* y [[buffer(2)]], constant ConvParams& p [[buffer(3)]],
                     uint3 gid [[thread_position_in_grid]]) {
    const int2 at = int2(gid.xy) * 2;
    float4x4 product = float4x4(0.0f);
    for (int c = 0; c < p.in_channels; ++c) {
        float4x4 d;
        for (int r = 0; r < 4; ++r) {
            for (int k = 0; k < 4; ++k) {
                const int row = at.y + r - p.padding, column = at.x + k - p.padding;
                const bool inside = row >= 0 && row < p.in_height && column >= 0 && column < p.in_width;
                d[r][k] = inside ? x[(c * p.in_height + row) * p.in_width + column] : 0.0f;
            }
            d[r] = winograd_input(d[r]);
        }
        d = transpose(d);
        const float4x4 weights = transpose(u[gid.z * p.in_channels + c]);
        for (int k = 0; k < 4; ++k) {
            product[k] += winograd_input(d[k]) * weights[k];
        }
    }
    float2x4 columns;  // of rows 0 and 1
    for (int k = 0; k < 4; ++k) {
        const float2 two = winograd_output(product[k]);
        columns[0][k] = two.x;
        columns[1][k] = two.y;
    }
    for (int r = 0; r < 2; ++r) {
        const float2 two = winograd_output(columns[r]);
        for (int k = 0; k < 2; ++k) {
            if (at.y + r < p.out_height && at.x + k < p.out_width) {
                y[(gid.z * p.out_height + at.y + r) * p.out_width + at.x + k] = two[k];
            }
        }
    }
}

// The gradient's direction: every input adds to a window of outputs, gathered here.
kernel void conv_transpose2d(device const float* x [[buffer(0)]], device const float* w [[buffer(1)]],
                             device float* y [[buffer(2)]], constant ConvParams& p [[buffer(3)]],
                             uint3 gid [[thread_position_in_grid]]) {
    float sum = 0;
    for (int c = 0; c < p.in_channels; ++c) {
        for (int i = 0; i < p.kernel_h; ++i) {
            const int up = int(gid.y) + p.padding - i * p.dilation;
            if (up < 0 || up % p.stride != 0 || up / p.stride >= p.in_height) continue;
            for (int j = 0; j < p.kernel_w; ++j) {
                const int across = int(gid.x) + p.padding - j * p.dilation;
                if (across < 0 || across % p.stride != 0 || across / p.stride >= p.in_width) continue;
                sum += x[(c * p.in_height + up / p.stride) * p.in_width + across / p.stride] *
                       w[((c * p.out_channels + gid.z) * p.kernel_h + i) * p.kernel_w + j];
            }
        }
    }
    y[(gid.z * p.out_height + gid.y) * p.out_width + gid.x] = sum;
}

enum class Pooling : int { max, average };
constant int pooling_kind [[function_constant(0)]];
constant Pooling pooling = static_cast<Pooling>(pooling_kind);

kernel void pool2d(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                   constant ConvParams& p [[buffer(2)]], uint3 gid [[thread_position_in_grid]]) {
    float result;
    switch (pooling) {
        case Pooling::max: result = -INFINITY; break;
        case Pooling::average: result = 0; break;
    }
    int count = 0;
    for (int i = 0; i < p.kernel_h; ++i) {
        for (int j = 0; j < p.kernel_w; ++j) {
            const int2 at = int2(gid.xy) * p.stride - p.padding + int2(j, i);
            if (any(at < 0) || any(at >= int2(p.in_width, p.in_height))) continue;
            const float value = x[(gid.z * p.in_height + at.y) * p.in_width + at.x];
            result = pooling == Pooling::max ? fmax(result, value) : result + value;
            ++count;
        }
    }
    y[(gid.z * p.out_height + gid.y) * p.out_width + gid.x] =
        pooling == Pooling::max ? result : result / count;
}
