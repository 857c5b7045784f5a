// Attention forward: softmax(Q K') V in one pass over blocks of keys. Put before this text: T, the
// type of the elements, and D, the width of a head, a multiple of 32. A simdgroup has 8 queries; its
// products are 8 x 8 matrices, whose rows are shared by lanes that differ in bits 0 and 3.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint KEYS = 32, SIMDGROUPS = 4;

// Where STAGED is 1, the simdgroups share a block of keys, then of values, in threadgroup memory.
#if STAGED
constant constexpr uint WIDE = 16 / sizeof(T), PIECES = KEYS * D / WIDE / 128;
constant constexpr uint AT_ONCE = PIECES < 4 ? PIECES : 4;
#define FROM threadgroup const T*

inline void share(threadgroup T* to, device const T* from, uint thread_index) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint first = 0; first < PIECES; first += AT_ONCE) {
        T pieces[AT_ONCE * WIDE];
#pragma unroll
        for (uint i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (uint j = 0; j < WIDE; ++j) {
                pieces[i * WIDE + j] = from[((first + i) * 128 + thread_index) * WIDE + j];
            }
        }
#pragma unroll
        for (uint i = 0; i < AT_ONCE; ++i) {
#pragma unroll
            for (uint j = 0; j < WIDE; ++j) {
                to[((first + i) * 128 + thread_index) * WIDE + j] = pieces[i * WIDE + j];
            }
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
#else
#define FROM device const T*
#endif

inline float over_row(float a, bool largest) {
    const float b = simd_shuffle_xor(a, 1);
    a = largest ? max(a, b) : a + b;
    const float c = simd_shuffle_xor(a, 8);
    return largest ? max(a, c) : a + c;
}

kernel void attention(device const T* q [[buffer(0)]], device const T* k [[buffer(1)]],
                      device const T* v [[buffer(2)]], device T* to [[buffer(3)]],
                      constant uint& length [[buffer(4)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint thread_index [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
#if STAGED
    threadgroup T block[KEYS * D];
#endif
    const uint first = (group.x * SIMDGROUPS + simdgroup) * 8;
    q += group.y * length * D + first * D;
    k += group.y * length * D;
    v += group.y * length * D;
    to += group.y * length * D + first * D;
    simdgroup_matrix<T, 8, 8> queries[D / 8];
#pragma unroll
    for (uint d = 0; d < D / 8; ++d) {
        simdgroup_load(queries[d], q + 8 * d, D);
    }
    simdgroup_float8x8 sums[D / 8];
#pragma unroll
    for (uint d = 0; d < D / 8; ++d) {
        sums[d] = make_filled_simdgroup_matrix<float, 8>(0.0f);
    }
    float largest = -INFINITY, total = 0;
    const float scale = 1.44269504f * rsqrt(float(D));
    for (uint key = 0; key < length; key += KEYS) {
#if STAGED
        share(block, k + key * D, thread_index);
        FROM keys_from = block;
#else
        FROM keys_from = k + key * D;
#endif
        simdgroup_matrix<T, 8, 8> scores[KEYS / 8];  // MFA's registers for S are those of Q
#pragma unroll
        for (uint j = 0; j < KEYS / 8; ++j) {
            scores[j] = make_filled_simdgroup_matrix<T, 8>(T(0));
#pragma unroll
            for (uint d = 0; d < D / 8; ++d) {
                simdgroup_matrix<T, 8, 8> keys;
                simdgroup_load(keys, keys_from + 8 * j * D + 8 * d, D, ulong2(0, 0), true);
                simdgroup_multiply_accumulate(scores[j], queries[d], keys, scores[j]);
            }
        }
        float now = -INFINITY;
#pragma unroll
        for (uint j = 0; j < KEYS / 8; ++j) {
            const float2 pair = float2(scores[j].thread_elements());
            now = max(now, max(pair.x, pair.y));
        }
        const float new_largest = max(largest, over_row(now, true) * scale);
        const float shrink = fast::exp2(largest - new_largest);
        largest = new_largest;
        float sum = 0;
        simdgroup_matrix<T, 8, 8> shares[KEYS / 8];
#pragma unroll
        for (uint j = 0; j < KEYS / 8; ++j) {
            const float2 pair = fast::exp2(float2(scores[j].thread_elements()) * scale - largest);
            sum += pair.x + pair.y;
            shares[j].thread_elements() = vec<T, 2>(pair);
        }
        total = total * shrink + over_row(sum, false);
#if STAGED
        share(block, v + key * D, thread_index);
        FROM values_from = block;
#else
        FROM values_from = v + key * D;
#endif
#pragma unroll
        for (uint d = 0; d < D / 8; ++d) {
            sums[d].thread_elements() *= shrink;
#pragma unroll
            for (uint j = 0; j < KEYS / 8; ++j) {
                simdgroup_matrix<T, 8, 8> values;
                simdgroup_load(values, values_from + 8 * j * D + 8 * d, D);
                simdgroup_multiply_accumulate(sums[d], shares[j], values, sums[d]);
            }
        }
    }
    const float factor = 1 / total;
#pragma unroll
    for (uint d = 0; d < D / 8; ++d) {
        simdgroup_matrix<T, 8, 8> result;
        result.thread_elements() = vec<T, 2>(sums[d].thread_elements() * factor);
        simdgroup_store(result, to + 8 * d, D);
    }
}
