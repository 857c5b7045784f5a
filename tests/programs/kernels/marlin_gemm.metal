// Products with weights of 4 and 8 bits unpacked by bit tricks: FP4 (e2m1), FP8 (e4m3, e5m2) and
// INT4; two buffers in turn, and three with simdgroups that load and simdgroups that compute.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant constexpr uint TILE_M = 16;
constant constexpr uint TILE_N = 32;
constant constexpr uint TILE_K = 32;
constant constexpr uint THREADS = 128;
constant constexpr uint32_t MAGIC_BIAS = 0x64006400u;  // two halves of 1024: their last bit is 1

// Eight INT4 of a word; each pair is or-ed into the mantissas of two halves.
inline void dequant_int4(uint32_t packed, half scale, half zero, thread half* out) {
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
        const uint32_t pair = ((packed >> (4 * i)) & 0x000F000Fu) | MAGIC_BIAS;
        const half2 wide = as_type<half2>(pair) - as_type<half2>(MAGIC_BIAS);
        out[i] = (wide.x - zero) * scale;
        out[i + 4] = (wide.y - zero) * scale;
    }
}

// e2m1: one sign, two exponents, one mantissa. A subnormal half of the same bits, scaled by 2^14.
inline half dequant_fp4(uint nibble) {
    const ushort sign = ushort(nibble & 8u) << 12;
    const ushort rest = ushort(nibble & 7u) << 9;
    return as_type<half>(ushort(sign | rest)) * 16384.0h;
}
inline void dequant_fp4(uint32_t packed, half scale, half, thread half* out) {
    #pragma unroll
    for (uint i = 0; i < 8; ++i) {
        out[i] = dequant_fp4((packed >> (4 * i)) & 0xF) * scale;
    }
}

inline half dequant_fp8_e4m3(uchar code) {
    if ((code & 0x7F) == 0x7F) {
        return as_type<half>(ushort(0x7E00));
    }
    return as_type<half>(ushort((ushort(code & 0x80) << 8) | (ushort(code & 0x7F) << 7))) * 256.0h;
}
inline half dequant_fp8_e5m2(uchar code) { return as_type<half>(ushort(code << 8)); }

typedef void (*dequant_t)(uint32_t, half, half, thread half*);

// A step's weights: 8 along K per word, words of (K / 8, N).
template <dequant_t DEQUANT>
inline void load_b(threadgroup half (&B_tile)[TILE_K][TILE_N], const device uint32_t* B,
                   const device half* scales, const device half* zeros, uint k0, uint n0, uint K,
                   uint N, uint group_size, uint thread_idx, uint threads) {
    for (uint i = thread_idx; i < TILE_K / 8 * TILE_N; i += threads) {
        const uint word = i / TILE_N, n = i % TILE_N;
        const uint k = k0 + 8 * word, column = n0 + n;
        half unpacked[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        if (k < K && column < N) {
            const uint group = k / group_size * N + column;
            DEQUANT(B[k / 8 * N + column], scales[group], zeros[group], unpacked);
        }
        #pragma unroll
        for (uint j = 0; j < 8; ++j) {
            B_tile[8 * word + j][n] = unpacked[j];
        }
    }
}

inline void load_a(threadgroup half (&A_tile)[TILE_M][TILE_K], const device half* A, uint m0, uint k0,
                   uint M, uint K, uint thread_idx, uint threads) {
    for (uint i = thread_idx; i < TILE_M * TILE_K; i += threads) {
        const uint m = m0 + i / TILE_K, k = k0 + i % TILE_K;
        A_tile[i / TILE_K][i % TILE_K] = m < M && k < K ? A[m * K + k] : half(0.0h);
    }
}

inline void compute(threadgroup const half (&A)[TILE_M][TILE_K], threadgroup const half (&B)[TILE_K][TILE_N],
                    thread simdgroup_matrix<float, 8, 8> (&acc)[2], uint n) {
    simdgroup_matrix<half, 8, 8> a, b;
    for (uint k = 0; k < TILE_K; k += 8) {
        simdgroup_load(b, &B[k][n], TILE_N);
        for (uint i = 0; i < 2; ++i) {
            simdgroup_load(a, &A[8 * i][k], TILE_K);
            simdgroup_multiply_accumulate(acc[i], a, b, acc[i]);
        }
    }
}

inline void store(threadgroup float* staging, thread simdgroup_matrix<float, 8, 8> (&acc)[2],
                  device half* C, uint m0, uint n0, uint M, uint N, uint lane) {
    for (uint i = 0; i < 2; ++i) {
        simdgroup_store(acc[i], staging, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint e = lane; e < 64; e += 32) {
            const uint m = m0 + 8 * i + e / 8, n = n0 + e % 8;
            if (m < M && n < N) {
                C[m * N + n] = half(staging[e]);
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

template <dequant_t DEQUANT>
kernel void gemm_double_buffered(
    device const half* A [[buffer(0)]], device const uint32_t* B [[buffer(1)]],
    device const half* scales [[buffer(2)]], device const half* zeros [[buffer(3)]],
    device half* C [[buffer(4)]], constant uint4& shape [[buffer(5)]],  // M, N, K, group
    uint3 tgid [[threadgroup_position_in_grid]], uint thread_idx [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup half A_tiles[2][TILE_M][TILE_K];
    threadgroup half B_tiles[2][TILE_K][TILE_N];
    threadgroup float staging[THREADS / 32][64];
    const uint M = shape.x, N = shape.y, K = shape.z, group = shape.w;
    const uint m0 = tgid.y * TILE_M, n0 = tgid.x * TILE_N;
    simdgroup_matrix<float, 8, 8> acc[2] = {simdgroup_matrix<float, 8, 8>(0.0f),
                                            simdgroup_matrix<float, 8, 8>(0.0f)};
    load_a(A_tiles[0], A, m0, 0, M, K, thread_idx, THREADS);
    load_b<DEQUANT>(B_tiles[0], B, scales, zeros, 0, n0, K, N, group, thread_idx, THREADS);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint current = 0;
    for (uint k = 0; k < K; k += TILE_K) {
        const uint next = 1 - current;
        if (k + TILE_K < K) {
            load_a(A_tiles[next], A, m0, k + TILE_K, M, K, thread_idx, THREADS);
            load_b<DEQUANT>(B_tiles[next], B, scales, zeros, k + TILE_K, n0, K, N, group, thread_idx,
                            THREADS);
        }
        compute(A_tiles[current], B_tiles[current], acc, 8 * sg);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        current = next;
    }
    store(staging[sg], acc, C, m0, n0 + 8 * sg, M, N, lane);
}

// Four simdgroups load while four compute what was loaded a step before.
template <dequant_t DEQUANT>
kernel void gemm_specialised(
    device const half* A [[buffer(0)]], device const uint32_t* B [[buffer(1)]],
    device const half* scales [[buffer(2)]], device const half* zeros [[buffer(3)]],
    device half* C [[buffer(4)]], constant uint4& shape [[buffer(5)]],
    uint3 tgid [[threadgroup_position_in_grid]], uint thread_idx [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup half A_tiles[3][TILE_M][TILE_K];
    threadgroup half B_tiles[3][TILE_K][TILE_N];
    threadgroup float staging[THREADS / 32][64];
    const uint M = shape.x, N = shape.y, K = shape.z, group = shape.w;
    const uint m0 = tgid.y * TILE_M, n0 = tgid.x * TILE_N;
    const bool loads = sg < 4;
    const uint steps = (K + TILE_K - 1) / TILE_K;
    simdgroup_matrix<float, 8, 8> acc[2] = {simdgroup_matrix<float, 8, 8>(0.0f),
                                            simdgroup_matrix<float, 8, 8>(0.0f)};
    for (uint step = 0; step <= steps; ++step) {
        if (loads && step < steps) {
            const uint into = step % 3;
            load_a(A_tiles[into], A, m0, step * TILE_K, M, K, thread_idx, THREADS);
            load_b<DEQUANT>(B_tiles[into], B, scales, zeros, step * TILE_K, n0, K, N, group, thread_idx,
                            THREADS);
        }
        if (!loads && step > 0) {
            const uint from = (step - 1) % 3;
            compute(A_tiles[from], B_tiles[from], acc, 8 * (sg - 4));
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (!loads) {
        store(staging[sg - 4], acc, C, m0, n0 + 8 * (sg - 4), M, N, lane);
    }
}

#define INSTANTIATE(name, func, dequant)                                                        \
    template [[host_name(name)]] kernel void func<dequant>(                                     \
        device const half*, device const uint32_t*, device const half*, device const half*,     \
        device half*, constant uint4&, uint3, uint, uint, uint);
INSTANTIATE("marlin_gemm_int4", gemm_double_buffered, dequant_int4)
INSTANTIATE("marlin_gemm_fp4", gemm_double_buffered, dequant_fp4)
INSTANTIATE("marlin_gemm_int4_specialised", gemm_specialised, dequant_int4)

kernel void dequant_fp8(device const uchar* codes [[buffer(0)]], device half* e4m3 [[buffer(1)]],
                        device half* e5m2 [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    e4m3[i] = dequant_fp8_e4m3(codes[i]);
    e5m2[i] = dequant_fp8_e5m2(codes[i]);
}
