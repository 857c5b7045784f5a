// What servers of language models add: a cache in pages, attention over pages, experts by token.
#include <metal_stdlib>
using namespace metal;

// Tokens to their slots; a negative slot is padding.
template <typename KV_T, typename CACHE_T>
[[kernel]] void reshape_and_cache(const device KV_T* __restrict__ key [[buffer(0)]],
                                  const device KV_T* __restrict__ value [[buffer(1)]],
                                  device CACHE_T* __restrict__ key_cache [[buffer(2)]],
                                  device CACHE_T* __restrict__ value_cache [[buffer(3)]],
                                  const device int64_t* __restrict__ slot_mapping [[buffer(4)]],
                                  constant int& heads [[buffer(5)]], constant int& head_size [[buffer(6)]],
                                  constant int& block_size [[buffer(7)]], constant int& x [[buffer(8)]],
                                  uint token_idx [[threadgroup_position_in_grid]],
                                  uint tid [[thread_position_in_threadgroup]],
                                  uint threads [[threads_per_threadgroup]]) {
    const int64_t slot_idx = slot_mapping[token_idx];
    if (slot_idx < 0) {
        return;
    }
    const int64_t block_idx = slot_idx / block_size, block_offset = slot_idx % block_size;
    const int n = heads * head_size;
    for (int i = tid; i < n; i += threads) {
        const int head = i / head_size, at = i % head_size;
        // Keys: (block, head, head_size / x, slot, x). Values: (block, head, head_size, slot).
        const int64_t k = ((block_idx * heads + head) * (head_size / x) + at / x) * block_size * x +
                          block_offset * x + at % x;
        const int64_t v = ((block_idx * heads + head) * head_size + at) * block_size + block_offset;
        key_cache[k] = static_cast<CACHE_T>(key[token_idx * n + i]);
        value_cache[v] = static_cast<CACHE_T>(value[token_idx * n + i]);
    }
}
template [[host_name("reshape_and_cache_float_half")]] [[kernel]] void reshape_and_cache<float, half>(
    const device float*, const device float*, device half*, device half*, const device int64_t*,
    constant int&, constant int&, constant int&, constant int&, uint, uint, uint);

// A threadgroup is a head of a sequence; simdgroups take pages in turn, lanes tokens of a page.
template <int HEAD_SIZE, int BLOCK_SIZE, int X>
[[kernel]] void paged_attention(const device half* q [[buffer(0)]], const device half* k_cache [[buffer(1)]],
                                const device half* v_cache [[buffer(2)]],
                                const device uint* block_tables [[buffer(3)]],
                                const device uint* context_lens [[buffer(4)]],
                                device float* out [[buffer(5)]], constant int4& shape [[buffer(6)]],
                                constant float& scale [[buffer(7)]],
                                threadgroup float* logits [[threadgroup(0)]],
                                uint2 tgid [[threadgroup_position_in_grid]],
                                uint tid [[thread_index_in_threadgroup]],
                                uint sg [[simdgroup_index_in_threadgroup]],
                                uint lane [[thread_index_in_simdgroup]],
                                uint simdgroups [[simdgroups_per_threadgroup]]) {
    const int heads = shape.x, kv_heads = shape.y, max_blocks = shape.z;
    const int head = tgid.x, seq = tgid.y, kv_head = head / (heads / kv_heads);
    const int context = context_lens[seq], blocks = (context + BLOCK_SIZE - 1) / BLOCK_SIZE;
    constexpr int PER_TOKEN = 32 / BLOCK_SIZE;  // lanes of a token
    static_assert(HEAD_SIZE % (PER_TOKEN * X) == 0, "lanes share a token evenly");
    threadgroup float partial[32];
    const device uint* table = block_tables + seq * max_blocks;
    const device half* query = q + (seq * heads + head) * HEAD_SIZE;
    float most = -FLT_MAX;
    for (int block = sg; block < blocks; block += simdgroups) {
        const int token = block * BLOCK_SIZE + int(lane) / PER_TOKEN;
        const device half* keys = k_cache +
            (int64_t(table[block]) * kv_heads + kv_head) * (HEAD_SIZE * BLOCK_SIZE) + lane / PER_TOKEN * X;
        float score = 0;
        for (int chunk = lane % PER_TOKEN; chunk < HEAD_SIZE / X; chunk += PER_TOKEN) {
            for (int i = 0; i < X; ++i) {
                score += float(query[chunk * X + i]) * float(keys[chunk * BLOCK_SIZE * X + i]);
            }
        }
        for (ushort step = PER_TOKEN / 2; step > 0; step /= 2) {
            score += simd_shuffle_xor(score, step);
        }
        score *= scale;
        if (token < context) {
            most = max(most, score);
            if (lane % PER_TOKEN == 0) {
                logits[token] = score;
            }
        }
    }
    most = simd_max(most);
    if (lane == 0) partial[sg] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    most = simd_max(lane < simdgroups ? partial[lane] : -FLT_MAX);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (int i = tid; i < context; i += 32 * simdgroups) {
        const float e = exp(logits[i] - most);
        logits[i] = e;
        sum += e;
    }
    sum = simd_sum(sum);
    if (lane == 0) partial[sg] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = simd_sum(lane < simdgroups ? partial[lane] : 0);
    for (int at = tid; at < HEAD_SIZE; at += 32 * simdgroups) {
        float value = 0;
        for (int i = 0; i < context; ++i) {
            const int64_t block = table[i / BLOCK_SIZE];
            value += logits[i] *
                v_cache[((block * kv_heads + kv_head) * HEAD_SIZE + at) * BLOCK_SIZE + i % BLOCK_SIZE];
        }
        out[(seq * heads + head) * HEAD_SIZE + at] = value / sum;
    }
}
template [[host_name("paged_attention_hs64_bs16")]] [[kernel]] void paged_attention<64, 16, 8>(
    const device half*, const device half*, const device half*, const device uint*, const device uint*,
    device float*, constant int4&, constant float&, threadgroup float*, uint2, uint, uint, uint, uint);

// Which tokens an expert has, in the tokens' order: one threadgroup, one expert per simdgroup.
kernel void tokens_of_experts(const device int* expert_of [[buffer(0)]], device uint* counts [[buffer(1)]],
                              device int* tokens [[buffer(2)]], constant int& count [[buffer(3)]],
                              uint expert [[simdgroup_index_in_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]]) {
    uint found = 0;
    for (int first = 0; first < count; first += 32) {
        const int at = first + lane;
        const bool mine = at < count && expert_of[at] == int(expert);
        const uint before = simd_prefix_exclusive_sum(uint(mine));
        if (mine) {
            tokens[expert * count + found + before] = at;
        }
        found += simd_sum(uint(mine));
    }
    if (lane == 0) {
        counts[expert] = found;
    }
}

// Blocks of 32 FP4 numbers with a power of two as scale; a clamped gated unit at the end.
struct mxfp4_block {
    uchar scale;
    uchar values[16];
};
constant float fp4_values[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};

inline float exponent_scale(uchar e) { return as_type<float>(e == 0 ? 0x00400000u : uint(e) << 23); }

kernel void expert_gated(const device float* x [[buffer(0)]], const device mxfp4_block* weights [[buffer(1)]],
                         const device float* bias [[buffer(2)]], const device int* expert_of [[buffer(3)]],
                         device float* out [[buffer(4)]], constant int2& shape [[buffer(5)]],
                         constant float2& alpha_and_limit [[buffer(6)]],
                         uint2 tgid [[threadgroup_position_in_grid]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
    const int columns = shape.x, rows = shape.y, row = tgid.x * simdgroups + sg, token = tgid.y;
    if (row >= rows) return;
    const int expert = expert_of[token], blocks = columns / 32;
    float2 sums = 0;
    for (int part = 0; part < 2; ++part) {  // rows come in pairs: the gate and the linear one
        const int at = (expert * rows + row) * 2 + part;
        for (int b = 0; b < blocks; ++b) {
            const device mxfp4_block& block = weights[at * blocks + b];
            const uchar code = block.values[lane / 2] >> (4 * (lane % 2)) & 15;
            sums[part] += fp4_values[code] * exponent_scale(block.scale) * x[token * columns + 32 * b + lane];
        }
        sums[part] = simd_sum(sums[part]) + bias[at];
    }
    const float gate = min(sums.x, alpha_and_limit.y);
    const float linear = clamp(sums.y, -alpha_and_limit.y, alpha_and_limit.y);
    if (lane == 0) {
        out[token * rows + row] = gate / (1 + exp(-alpha_and_limit.x * gate)) * (linear + 1);
    }
}
