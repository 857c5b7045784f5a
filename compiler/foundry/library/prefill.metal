#include "cache.h"

constant constexpr float NOTHING = -FLT_MAX;  // no score: finite, as infinities are no numbers
constant constexpr uint SIMDGROUPS = 4;
constant constexpr uint PARTS = HEAD / 8;

// Causal attention: a threadgroup has 32 tokens of a head, eight for each simdgroup, and goes
// through the keys KEYS at a time. Keys lie in threadgroup memory, then values at the same place.
inline void load_tile(threadgroup TILE* tile, const device uchar* from,
                      constant PrefillParams* params, const device uint* blocks, uint sequence,
                      uint head, uint begin, uint end, uint thread_index) {
    for (uint i = thread_index; i < KEYS * PARTS; i += 32 * SIMDGROUPS) {
        const uint position = begin + i / PARTS;
        const uint part = i % PARTS * 8;
        float w[8] = {};
        if (position < end) {
            const uint row = cache_row(params->cache, blocks, sequence, position, head);
            Keys::load8(from, from, 0, HEAD, row, part, w);
        }
        for (uint j = 0; j < 8; ++j) {
            tile[i * 8 + j] = TILE(w[j]);
        }
    }
}

// assay: assume(groups.y <= params.heads)
// assay: assume(groups.z <= params.splits and (IS_SPLIT == 1 or params.splits == 1))
kernel void prefill(const device T* q [[buffer(0)]], const device uchar* keys [[buffer(1)]],
                    const device uchar* values [[buffer(2)]],
                    const device uint* where [[buffer(3)]], device OUT* y [[buffer(4)]],
                    constant PrefillParams* params [[buffer(5)]],
#if IS_PAGED
                    const device uint* blocks [[buffer(6)]],
#endif
                    uint3 gid [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_index_in_threadgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup TILE tile[KEYS * HEAD];
    threadgroup float scores_of[SIMDGROUPS * 8 * KEYS];
    threadgroup TILE weights_of[SIMDGROUPS * 8 * KEYS];
    threadgroup float diagonal_of[SIMDGROUPS * 64];
#if !IS_PAGED
    const device uint* blocks = nullptr;
#endif
    threadgroup float* scores = scores_of + simdgroup * 8 * KEYS;
    threadgroup TILE* weights = weights_of + simdgroup * 8 * KEYS;
    threadgroup float* diagonal = diagonal_of + simdgroup * 64;
    const uint head = gid.y;
    const uint kv_head = head / (params->heads / params->cache.kv_heads);
    const uint before = where[0], sequence = where[1];
    const uint own = gid.x * 32 + simdgroup * 8;  // the first token of the simdgroup
    const uint row = lane / 4;                    // this lane's token among them, with three others
    const uint place = before + own + row;

    // Tokens beyond the last are zeros.
    simdgroup_matrix<TILE, 8, 8> query[PARTS];
    simdgroup_float8x8 sums[PARTS];
    threadgroup TILE* staged = weights;
    for (uint part = 0; part < PARTS; ++part) {
        for (uint i = lane; i < 64; i += 32) {
            const uint token = own + i / 8;
            const ulong from = (ulong(token) * params->heads + head) * HEAD + part * 8 + i % 8;
            staged[i] = token < params->tokens ? TILE(q[from]) : TILE(0);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_load(query[part], staged, 8);
        sums[part] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = lane; i < 64; i += 32) {
        diagonal[i] = 0;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);

    float most = NOTHING, total = 0;
    const uint end = before + min(gid.x * 32 + 32, params->tokens);
    // Splits take whole tiles of keys.
    const uint share = ((end + KEYS - 1) / KEYS + params->splits - 1) / params->splits * KEYS;
    const uint last = min((gid.z + 1) * share, end);
    for (uint begin = gid.z * share; begin < last; begin += KEYS) {
        load_tile(tile, keys, params, blocks, sequence, kv_head, begin, end, thread_index);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < KEYS; j += 8) {
            simdgroup_float8x8 score = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
            for (uint part = 0; part < PARTS; ++part) {
                simdgroup_matrix<TILE, 8, 8> key;
                simdgroup_load(key, tile + j * HEAD + part * 8, HEAD, ulong2(0, 0), true);
                simdgroup_multiply_accumulate(score, query[part], key, score);
            }
            simdgroup_store(score, scores + j, KEYS);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        load_tile(tile, values, params, blocks, sequence, kv_head, begin, end, thread_index);
        float top = most;
        for (uint c = lane % 4; c < KEYS; c += 4) {
            const bool is_seen = begin + c <= place && begin + c < end;
            top = max(top, is_seen ? scores[row * KEYS + c] * params->scale : NOTHING);
        }
        top = max(top, simd_shuffle_xor(top, ushort(1)));
        top = max(top, simd_shuffle_xor(top, ushort(2)));
        const float keep = exp2(most - top);
        float more = 0;
        for (uint c = lane % 4; c < KEYS; c += 4) {
            const bool is_seen = begin + c <= place && begin + c < end;
            const float score = scores[row * KEYS + c] * params->scale;
            const TILE weight = is_seen ? TILE(exp2(score - top)) : TILE(0);
            weights[row * KEYS + c] = weight;
            more += float(weight);
        }
        more += simd_shuffle_xor(more, ushort(1));
        more += simd_shuffle_xor(more, ushort(2));
        total = total * keep + more;
        most = top;
        if (lane % 4 == 0) {
            diagonal[row * 9] = keep;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);

        simdgroup_float8x8 kept;
        simdgroup_load(kept, diagonal, 8);
        for (uint part = 0; part < PARTS; ++part) {
            simdgroup_float8x8 sum;
            simdgroup_multiply(sum, kept, sums[part]);
            for (uint j = 0; j < KEYS; j += 8) {
                simdgroup_matrix<TILE, 8, 8> weight, value;
                simdgroup_load(weight, weights + j, KEYS);
                simdgroup_load(value, tile + j * HEAD + part * 8, HEAD);
                simdgroup_multiply_accumulate(sum, weight, value, sum);
            }
            sums[part] = sum;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }

#if !IS_SPLIT
    const float inverse = total == 0 ? 0.0f : 1.0f / total;
#endif
    for (uint part = 0; part < PARTS; ++part) {
        simdgroup_store(sums[part], diagonal, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 2; ++i) {
            const uint column = lane % 4 * 2 + i;
            if (own + row < params->tokens) {
                const ulong to = ulong(own + row) * params->heads + head;
#if IS_SPLIT
                // As `attention` leaves it for `attention_merge`.
                device float* split = y + (to * params->splits + gid.z) * (HEAD + 2);
                split[part * 8 + column] = diagonal[row * 8 + column];
                if (part == 0 && column == 0) {
                    split[HEAD] = most;
                    split[HEAD + 1] = total;
                }
#else
                y[to * HEAD + part * 8 + column] = T(diagonal[row * 8 + column] * inverse);
#endif
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}
