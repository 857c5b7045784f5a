#include "cache.h"

constant constexpr uint KEYS = 32 / LANES;  // that a simdgroup takes at a time
constant constexpr float NOTHING = -FLT_MAX;  // no score: finite, as infinities are no numbers

// Attention of few tokens: each sees the keys up to its position. A threadgroup has QUERIES heads
// that share keys, and a part of the keys; LANES lanes of a simdgroup share a key, eight numbers
// each. Softmax is kept on the way, by lanes, then put together.
// assay: assume(groups.x * QUERIES <= params.heads)
// assay: assume(groups.y <= params.splits and (IS_SPLIT == 1 or params.splits == 1))
kernel void attention(const device T* q [[buffer(0)]], const device uchar* keys [[buffer(1)]],
                      const device uchar* values [[buffer(2)]],
                      const device int* positions [[buffer(3)]],
                      const device uint* sequences [[buffer(4)]], device OUT* y [[buffer(5)]],
                      constant AttentionParams* params [[buffer(6)]],
#if IS_PAGED
                      const device uint* blocks [[buffer(7)]],
#endif
                      uint3 gid [[threadgroup_position_in_grid]],
                      uint thread_index [[thread_index_in_threadgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float sums_of[SIMDGROUPS * QUERIES * HEAD];
    threadgroup float most_of[SIMDGROUPS * QUERIES];
    threadgroup float total_of[SIMDGROUPS * QUERIES];
#if !IS_PAGED
    const device uint* blocks = nullptr;
#endif
    const uint token = gid.z;
    const uint head = gid.x * QUERIES;
    const uint kv_head = head / (params->heads / params->cache.kv_heads);
    const uint part = lane % LANES * 8;
    const bool has_part = part < HEAD;
    const uint sequence = sequences[token];

    float query[QUERIES][8], sum[QUERIES][8], most[QUERIES], total[QUERIES];
    for (uint h = 0; h < QUERIES; ++h) {
        const device T* from = q + (ulong(token) * params->heads + head + h) * HEAD + part;
        most[h] = NOTHING;
        total[h] = 0;
        for (uint i = 0; i < 8; ++i) {
            query[h][i] = has_part ? float(from[i]) * params->scale : 0.0f;
            sum[h][i] = 0;
        }
    }

    const uint count = uint(max(positions[token] + 1, 0));
    const uint share = (count + params->splits - 1) / params->splits;
    const uint begin = min(gid.y * share, count);
    const uint end = min(begin + share, count);
    for (uint first = begin + simdgroup * KEYS; first < end; first += SIMDGROUPS * KEYS) {
        const bool is_seen = first + lane / LANES < end;
        const uint position = is_seen ? first + lane / LANES : first;
        const uint row = cache_row(params->cache, blocks, sequence, position, kv_head);
        float w[8] = {};
        if (has_part) {
            Keys::load8(keys, keys, 0, HEAD, row, part, w);
        }
        float keep[QUERIES], weight[QUERIES];
        for (uint h = 0; h < QUERIES; ++h) {
            float score = 0;
            for (uint i = 0; i < 8; ++i) {
                score += query[h][i] * w[i];
            }
            for (ushort step = LANES / 2; step > 0; step /= 2) {
                score += simd_shuffle_xor(score, step);
            }
            const float next = is_seen ? max(most[h], score) : most[h];
            keep[h] = exp2(most[h] - next);
            weight[h] = is_seen ? exp2(score - next) : 0.0f;
            total[h] = total[h] * keep[h] + weight[h];
            most[h] = next;
        }
        if (has_part) {
            Keys::load8(values, values, 0, HEAD, row, part, w);
        }
        for (uint h = 0; h < QUERIES; ++h) {
            for (uint i = 0; i < 8; ++i) {
                sum[h][i] = sum[h][i] * keep[h] + weight[h] * w[i];
            }
        }
    }

    // Lanes of other keys, then other simdgroups.
    for (uint h = 0; h < QUERIES; ++h) {
        for (ushort step = LANES; step < 32; step *= 2) {
            const float other = simd_shuffle_xor(most[h], step);
            const float next = max(most[h], other);
            const float mine = exp2(most[h] - next), its = exp2(other - next);
            total[h] = total[h] * mine + simd_shuffle_xor(total[h], step) * its;
            for (uint i = 0; i < 8; ++i) {
                sum[h][i] = sum[h][i] * mine + simd_shuffle_xor(sum[h][i], step) * its;
            }
            most[h] = next;
        }
        const uint at = simdgroup * QUERIES + h;
        if (lane == 0) {
            most_of[at] = most[h];
            total_of[at] = total[h];
        }
        if (lane < LANES && has_part) {
            for (uint i = 0; i < 8; ++i) {
                sums_of[at * HEAD + part + i] = sum[h][i];
            }
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint at = thread_index; at < QUERIES * HEAD; at += SIMDGROUPS * 32) {
        const uint h = at / HEAD;
        float top = NOTHING;
        for (uint s = 0; s < SIMDGROUPS; ++s) {
            top = max(top, most_of[s * QUERIES + h]);
        }
        float value = 0, all = 0;
        for (uint s = 0; s < SIMDGROUPS; ++s) {
            const float factor = exp2(most_of[s * QUERIES + h] - top);
            value += sums_of[s * QUERIES * HEAD + at] * factor;
            all += total_of[s * QUERIES + h] * factor;
        }
        const ulong row = ulong(token) * params->heads + head + h;
#if IS_SPLIT
        device float* to = y + (row * params->splits + gid.y) * (HEAD + 2);
        to[at % HEAD] = value;
        if (at % HEAD == 0) {
            to[HEAD] = top;
            to[HEAD + 1] = all;
        }
#else
        y[row * HEAD + at % HEAD] = OUT(all == 0 ? 0.0f : value / all);
#endif
    }
}
