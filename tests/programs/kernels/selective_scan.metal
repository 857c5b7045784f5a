// State space models: the causal convolution before, and the scan of states with inputs' steps.
#include <metal_stdlib>
using namespace metal;

struct ssm_args {
    int32_t d_state;
    int32_t d_inner;   // heads, each of its own state
    int32_t n_tokens;
    int32_t n_seqs;
    uint64_t nb_x_token, nb_x_seq;     // bytes
    uint64_t nb_bc_token, nb_bc_seq;
};

// A threadgroup is one channel of one sequence; a lane holds one state.
template <int STATES>
kernel void selective_scan(device const float* s0 [[buffer(0)]], device const char* x [[buffer(1)]],
                           device const char* dt [[buffer(2)]], device const float* A [[buffer(3)]],
                           device const char* B [[buffer(4)]], device const char* C [[buffer(5)]],
                           device const float* D [[buffer(6)]], device float* y [[buffer(7)]],
                           device float* s [[buffer(8)]], constant ssm_args& args [[buffer(9)]],
                           uint2 tgpig [[threadgroup_position_in_grid]],
                           ushort tid [[thread_index_in_threadgroup]],
                           ushort tiisg [[thread_index_in_simdgroup]],
                           ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    constexpr short groups = (STATES + 31) / 32;
    threadgroup float partial[groups];
    const int channel = tgpig.x, seq = tgpig.y;
    const bool there = tid < STATES;
    const int at = (seq * args.d_inner + channel) * STATES + tid;
    float state = there ? s0[at] : 0.f;
    const float a = there ? A[channel * STATES + tid] : 0.f;
    for (int t = 0; t < args.n_tokens; ++t) {
        const uint64_t row = seq * args.nb_x_seq + t * args.nb_x_token;
        const uint64_t bc = seq * args.nb_bc_seq + t * args.nb_bc_token;
        const float xt = ((device const float*)(x + row))[channel];
        const float raw = ((device const float*)(dt + row))[channel];
        const float step = raw <= 20.0f ? log(1.0f + exp(raw)) : raw;  // softplus
        float out = 0.f;
        if (there) {
            state = state * exp(step * a) + ((device const float*)(B + bc))[tid] * step * xt;
            out = state * ((device const float*)(C + bc))[tid];
        }
        out = simd_sum(out);
        if (groups > 1) {
            if (tiisg == 0) {
                partial[sgitg] = out;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            out = 0.f;
            for (short g = 0; g < groups; ++g) {
                out += partial[g];
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (tid == 0) {
            y[(seq * args.n_tokens + t) * args.d_inner + channel] = out + D[channel] * xt;
        }
    }
    if (there) {
        s[at] = state;
    }
}
template [[host_name("selective_scan_16")]] kernel void selective_scan<16>(
    device const float*, device const char*, device const char*, device const float*,
    device const char*, device const char*, device const float*, device float*, device float*,
    constant ssm_args&, uint2, ushort, ushort, ushort);
template [[host_name("selective_scan_128")]] kernel void selective_scan<128>(
    device const float*, device const char*, device const char*, device const float*,
    device const char*, device const char*, device const float*, device float*, device float*,
    constant ssm_args&, uint2, ushort, ushort, ushort);

// Four taps per channel; `state` holds the inputs of before, three per channel.
kernel void causal_conv(device const half* x [[buffer(0)]], device const float4* weight [[buffer(1)]],
                        device const half* state [[buffer(2)]], device half* out [[buffer(3)]],
                        constant int2& shape [[buffer(4)]], uint2 gid [[thread_position_in_grid]]) {
    const int channel = gid.x, t = gid.y, channels = shape.x;
    float4 taps;
    for (int i = 0; i < 4; ++i) {
        const int from = t + i - 3;
        taps[i] = from < 0 ? state[(from + 3) * channels + channel] : x[from * channels + channel];
    }
    const float sum = dot(taps, weight[channel]);
    out[t * channels + channel] = half(sum / (1.0f + exp(-sum)));
}

// Linear attention by a scan over (decay, value) pairs: the pair operation is associative.
kernel void gated_scan(device const float2* pairs [[buffer(0)]], device float* out [[buffer(1)]],
                       constant int& length [[buffer(2)]],
                       uint row [[threadgroup_position_in_grid]],
                       ushort lane [[thread_index_in_simdgroup]]) {
    pairs += row * length;
    out += row * length;
    float carried = 0.f;
    for (int first = 0; first < length; first += 32) {
        float2 p = first + lane < length ? pairs[first + lane] : float2(1.f, 0.f);
        for (ushort step = 1; step < 32; step <<= 1) {
            const float2 earlier = simd_shuffle_and_fill_up(p, float2(1.f, 0.f), step);
            p = float2(p.x * earlier.x, p.x * earlier.y + p.y);
        }
        const float here = p.x * carried + p.y;
        if (first + lane < length) {
            out[first + lane] = here;
        }
        carried = simd_shuffle(here, 31);
    }
}
