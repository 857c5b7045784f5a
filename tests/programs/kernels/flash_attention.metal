// Attention without its matrix of scores in memory: online softmax over blocks of keys.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

struct attention_args {
    int32_t  queries;       // of one head
    int32_t  keys;
    int32_t  heads;         // of the queries
    int32_t  heads_per_kv;  // that share one head of keys and values
    uint64_t nbq1, nbq2;    // byte strides of a query and of a head
    uint64_t nbk1, nbk2;
    uint64_t nbv1, nbv2;
    uint64_t nbm1;          // bytes of a row of the mask
    float    scale;
    float    logit_softcap;
};

constant bool has_mask [[function_constant(0)]];
constant bool has_softcap [[function_constant(1)]];

template <typename T> struct types4;
template <> struct types4<half> { using type = half4; };
template <> struct types4<bfloat> { using type = bfloat4; };
template <> struct types4<float> { using type = float4; };

// One query per threadgroup. Simdgroups take blocks of keys in turn and meet at the end.
// Lanes are cut in rows of NE: each row of lanes works on its own key.
template <typename kv_t, short D, short NE>
kernel void flash_attn_vec(constant attention_args& args [[buffer(0)]],
                           device const char* q [[buffer(1)]],
                           device const char* k [[buffer(2)]],
                           device const char* v [[buffer(3)]],
                           device const char* mask [[buffer(4), function_constant(has_mask)]],
                           device float* dst [[buffer(5)]],
                           threadgroup float* shared [[threadgroup(0)]],
                           uint3 tgpig [[threadgroup_position_in_grid]],
                           ushort tiisg [[thread_index_in_simdgroup]],
                           ushort sgitg [[simdgroup_index_in_threadgroup]],
                           ushort nsg [[simdgroups_per_threadgroup]]) {
    using kv4_t = typename types4<kv_t>::type;
    constexpr short NL = 32 / NE;             // lanes of one key
    constexpr short D4 = D / 4;
    constexpr short PER_LANE = (D4 + NL - 1) / NL;
    static_assert(D4 % NL == 0, "lanes share a key evenly");
    const int iq = tgpig.x, head = tgpig.y;
    const short key_of = tiisg / NL, part = tiisg % NL;

    threadgroup float4* sq = (threadgroup float4*)shared;            // D4: the query
    threadgroup float4* so = sq + D4 + sgitg * D4;                   // D4 of each simdgroup
    threadgroup float2* ss = (threadgroup float2*)(sq + D4 + nsg * D4);  // maximum and sum

    device const float4* query = (device const float4*)(q + iq * args.nbq1 + head * args.nbq2);
    for (short i = sgitg * 32 + tiisg; i < D4; i += nsg * 32) {
        sq[i] = query[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const int kv_head = head / args.heads_per_kv;
    float4 acc[PER_LANE];
    for (short i = 0; i < PER_LANE; ++i) {
        acc[i] = 0.f;
    }
    float M = -FLT_MAX / 2, S = 0.f;
    for (int first = sgitg * NE; first < args.keys; first += nsg * NE) {
        const int ik = first + key_of;
        const bool there = ik < args.keys;
        device const kv4_t* key =
            (device const kv4_t*)(k + (there ? ik : 0) * args.nbk1 + kv_head * args.nbk2);
        float score = 0.f;
        for (short i = 0; i < PER_LANE; ++i) {
            score += dot((float4)key[i * NL + part], sq[i * NL + part]);
        }
        #pragma unroll
        for (short step = NL / 2; step > 0; step /= 2) {
            score += simd_shuffle_xor(score, step);
        }
        score *= args.scale;
        if (has_softcap) {
            score = args.logit_softcap * precise::tanh(score);
        }
        if (has_mask) {
            score += ((device const half*)(mask + iq * args.nbm1))[there ? ik : 0];
        }
        score = there ? score : -FLT_MAX / 2;
        // The running maximum belongs to the simdgroup: all its keys share one scale.
        const float previous = M;
        M = simd_max(max(M, score));
        const float shrink = exp(previous - M), weight = there ? exp(score - M) : 0.f;
        S = S * shrink + weight;
        device const kv4_t* value =
            (device const kv4_t*)(v + (there ? ik : 0) * args.nbv1 + kv_head * args.nbv2);
        for (short i = 0; i < PER_LANE; ++i) {
            acc[i] = acc[i] * shrink + weight * (float4)value[i * NL + part];
        }
    }
    // Lanes of the other keys, then the other simdgroups.
    #pragma unroll
    for (short step = NL; step < 32; step *= 2) {
        S += simd_shuffle_xor(S, step);
        for (short i = 0; i < PER_LANE; ++i) {
            for (short c = 0; c < 4; ++c) {
                acc[i][c] += simd_shuffle_xor(acc[i][c], step);
            }
        }
    }
    if (key_of == 0) {
        for (short i = 0; i < PER_LANE; ++i) {
            so[i * NL + part] = acc[i];
        }
    }
    if (tiisg == 0) {
        ss[sgitg] = float2(M, S);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sgitg != 0) {
        return;
    }
    const float2 mine = tiisg < nsg ? ss[tiisg] : float2(-FLT_MAX / 2, 0.f);
    const float most = simd_max(mine.x);
    const float factor = exp(mine.x - most);
    const float total = simd_sum(mine.y * factor);
    device float4* out = (device float4*)dst + ((uint64_t)iq * args.heads + head) * D4;
    for (short i = tiisg; i < D4; i += 32) {
        float4 sum = 0.f;
        for (short g = 0; g < nsg; ++g) {
            sum += sq[D4 + g * D4 + i] * exp(ss[g].x - most);
        }
        out[i] = total == 0.f ? 0.f : sum / total;
    }
}

typedef decltype(flash_attn_vec<half, 64, 4>) flash_attn_vec_t;
template [[host_name("flash_attn_vec_f16_h64")]] kernel flash_attn_vec_t flash_attn_vec<half, 64, 4>;
template [[host_name("flash_attn_vec_bf16_h96")]] kernel flash_attn_vec_t
    flash_attn_vec<bfloat, 96, 4>;
template [[host_name("flash_attn_vec_f32_h128")]] kernel flash_attn_vec_t
    flash_attn_vec<float, 128, 1>;

// Eight queries per simdgroup, blocks of 16 keys: scores and sums by simdgroup matrices.
template <typename T, short D>
kernel void flash_attn_tiled(constant attention_args& args [[buffer(0)]],
                             device const char* q [[buffer(1)]],
                             device const char* k [[buffer(2)]],
                             device const char* v [[buffer(3)]],
                             device const char* mask [[buffer(4), function_constant(has_mask)]],
                             device float* dst [[buffer(5)]],
                             uint3 tgpig [[threadgroup_position_in_grid]],
                             ushort tiitg [[thread_index_in_threadgroup]],
                             ushort tiisg [[thread_index_in_simdgroup]],
                             ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    constexpr short Q = 8, C = 16, NSG = 2, TILES = D / 8;
    threadgroup T sq[NSG][Q * D];
    threadgroup T skv[C * D];
    threadgroup float scores[NSG][Q * C];
    threadgroup T weights[NSG][Q * C];
    const int head = tgpig.y, kv_head = head / args.heads_per_kv;
    const int first_query = (tgpig.x * NSG + sgitg) * Q;

    for (short i = tiisg; i < Q * D; i += 32) {
        const int row = min(first_query + i / D, args.queries - 1);
        device const float* from = (device const float*)(q + row * args.nbq1 + head * args.nbq2);
        sq[sgitg][i] = (T)(from[i % D] * args.scale);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_matrix<float, 8, 8> out[TILES];
    #pragma unroll(TILES)
    for (short i = 0; i < TILES; ++i) {
        out[i] = make_filled_simdgroup_matrix<float, 8>(0.f);
    }
    // Four lanes hold one query's running maximum and sum.
    const short my_query = tiisg / 4;
    float M = -INFINITY, S = 0.f;
    for (int first = 0; first < args.keys; first += C) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short i = tiitg; i < C * D; i += NSG * 32) {
            const int row = first + i / D;
            device const T* from = (device const T*)(k + row * args.nbk1 + kv_head * args.nbk2);
            skv[i] = row < args.keys ? from[i % D] : T(0);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short c = 0; c < C; c += 8) {
            simdgroup_matrix<float, 8, 8> product = make_filled_simdgroup_matrix<float, 8>(0.f);
            for (short i = 0; i < TILES; ++i) {
                simdgroup_matrix<T, 8, 8> a, b;
                simdgroup_load(a, sq[sgitg] + 8 * i, D);
                simdgroup_load(b, skv + c * D + 8 * i, D, 0, true);
                simdgroup_multiply_accumulate(product, a, b, product);
            }
            simdgroup_store(product, scores[sgitg] + c, C);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        float mine[4];
        float most = M;
        for (short i = 0; i < 4; ++i) {
            const int key = first + 4 * (tiisg % 4) + i;
            const int query = min(first_query + my_query, args.queries - 1);
            float s = scores[sgitg][my_query * C + 4 * (tiisg % 4) + i];
            if (has_mask && key < args.keys) {
                s += ((device const half*)(mask + query * args.nbm1))[key];
            }
            mine[i] = key < args.keys ? s : -INFINITY;
            most = max(most, mine[i]);
        }
        most = max(most, simd_shuffle_xor(most, 1));
        most = max(most, simd_shuffle_xor(most, 2));
        const float shrink = most == -INFINITY ? 1.f : exp(M - most);
        float sum = 0.f;
        for (short i = 0; i < 4; ++i) {
            const float w = mine[i] == -INFINITY ? 0.f : exp(mine[i] - most);
            weights[sgitg][my_query * C + 4 * (tiisg % 4) + i] = (T)w;
            sum += w;
        }
        sum += quad_shuffle_xor(sum, 1);
        sum += quad_shuffle_xor(sum, 2);
        S = S * shrink + sum;
        M = most;
        // The matrix of factors is diagonal: rows of `out` shrink.
        threadgroup float* diagonal = scores[sgitg];
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (short i = tiisg; i < 64; i += 32) {
            diagonal[i] = 0.f;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (tiisg % 4 == 0) {
            diagonal[my_query * 9] = shrink;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short i = tiitg; i < C * D; i += NSG * 32) {
            const int row = first + i / D;
            device const T* from = (device const T*)(v + row * args.nbv1 + kv_head * args.nbv2);
            skv[i] = row < args.keys ? from[i % D] : T(0);
        }
        simdgroup_matrix<float, 8, 8> factors;
        simdgroup_load(factors, diagonal, 8);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short i = 0; i < TILES; ++i) {
            simdgroup_multiply(out[i], factors, out[i]);
            for (short c = 0; c < C; c += 8) {
                simdgroup_matrix<T, 8, 8> a, b;
                simdgroup_load(a, weights[sgitg] + c, C);
                simdgroup_load(b, skv + c * D + 8 * i, D);
                simdgroup_multiply_accumulate(out[i], a, b, out[i]);
            }
        }
    }
    const float inverse = S == 0.f ? 0.f : 1.f / S;
    threadgroup float* staged = scores[sgitg];
    for (short i = 0; i < TILES; ++i) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_store(out[i], staged, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        const int query = first_query + my_query;
        if (query < args.queries) {
            device float* to = dst + ((uint64_t)query * args.heads + head) * D + 8 * i;
            for (short c = 2 * (tiisg % 4); c < 2 * (tiisg % 4) + 2; ++c) {
                to[c] = staged[my_query * 8 + c] * inverse;
            }
        }
    }
}

#define INSTANTIATE_TILED(name, type, size)                                          \
    template [[host_name("flash_attn_" name "_h" #size)]] [[kernel]]                 \
    decltype(flash_attn_tiled<type, size>) flash_attn_tiled<type, size>;

INSTANTIATE_TILED("f16", half, 64)
INSTANTIATE_TILED("bf16", bfloat, 32)
