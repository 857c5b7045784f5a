#include "cache.h"

// A simdgroup for 32 numbers of a head of a token: q turns by its position into `turned`, k turns
// and goes into the cache, v goes there as it is. Pairs are halves apart ("neox"), or neighbours.
// No two tokens may have one place of one sequence, nor may it be beyond the sequence's.
// No two places of a table may name one block.
// assay: assume(32 * groups.x < HEAD + 32)
// assay: assume(groups.y <= params.heads + 2 * params.cache.kv_heads)
// assay: assume(distinct(sequences, positions))
// assay: assume(0 <= positions[*] and (IS_PAGED == 1 or positions[*] < params.cache.capacity))
// assay: assume(IS_PAGED == 0 or positions[*] < params.cache.columns * params.cache.capacity)
kernel void cache_write(const device T* q [[buffer(0)]], const device T* k [[buffer(1)]],
                        const device T* v [[buffer(2)]],
                        const device int* positions [[buffer(3)]],
                        const device uint* sequences [[buffer(4)]],
                        const device float* cosines [[buffer(5)]],
                        const device float* sines [[buffer(6)]], device uchar* keys [[buffer(7)]],
                        device uchar* values [[buffer(8)]], device T* turned [[buffer(9)]],
                        constant WriteParams* params [[buffer(10)]],
#if IS_PAGED
                        // assay: assume(distinct(blocks))
                        const device uint* blocks [[buffer(11)]],
#endif
                        uint3 gid [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]]) {
#if !IS_PAGED
    const device uint* blocks = nullptr;
#endif
    const uint token = gid.z;
    const uint kv_heads = params->cache.kv_heads;
    const bool is_query = gid.y < params->heads;
    const bool is_value = gid.y >= params->heads + kv_heads;
    const uint head = is_query ? gid.y : (gid.y - params->heads) % kv_heads;
    const uint own_heads = is_query ? params->heads : kv_heads;
    const device T* from = is_query ? q : is_value ? v : k;
    from += (ulong(token) * own_heads + head) * HEAD;
    const uint first = gid.x * 32;
    const uint i = first + lane;
    float value = i < HEAD ? float(from[i]) : 0.0f;
    const int position = positions[token];
    const uint pairs = params->pairs;
    if (!is_value && i < 2 * pairs) {
        const bool is_second = params->is_neox ? i >= pairs : i % 2 == 1;
        const uint pair = params->is_neox ? i % pairs : i / 2;
        const uint distance = params->is_neox ? pairs : 1;
        const float other = float(from[is_second ? i - distance : i + distance]);
        const float cosine = cosines[ulong(position) * pairs + pair];
        const float sine = sines[ulong(position) * pairs + pair];
        value = is_second ? other * sine + value * cosine : value * cosine - other * sine;
    }
    if (is_query) {
        if (i < HEAD) {
            turned[(ulong(token) * params->heads + head) * HEAD + i] = T(value);
        }
        return;  // the whole simdgroup, which is the threadgroup
    }
    const uint row = cache_row(params->cache, blocks, sequences[token], uint(position), head);
    if (is_value) {
        Store::store32(values, HEAD, row, first, lane, value);
    } else {
        Store::store32(keys, HEAD, row, first, lane, value);
    }
}
