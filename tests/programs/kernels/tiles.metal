// Tiles as types: in registers and in threadgroup memory, with operations over whole tiles.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

namespace tk {
constexpr constant int TILE_DIM = 8;

namespace ducks {
struct rt_id {};
struct st_id {};
template <typename RT> METAL_FUNC static constexpr bool is_register_tile() {
    return is_same_v<typename RT::identifier, rt_id>;
}
template <typename ST> METAL_FUNC static constexpr bool is_shared_tile() {
    return is_same_v<typename ST::identifier, st_id>;
}
}  // namespace ducks

template <typename T, int _rows, int _cols>
struct rt {
    using identifier = ducks::rt_id;
    using dtype = T;
    constant static constexpr int rows = _rows, cols = _cols;
    constant static constexpr int height = rows / TILE_DIM, width = cols / TILE_DIM;
    static_assert(rows % TILE_DIM == 0 && cols % TILE_DIM == 0, "tiles are made of 8 x 8");
    simdgroup_matrix<T, TILE_DIM, TILE_DIM> tiles[height][width];
};

template <typename T, int _rows, int _cols, int _pad = 1>
struct st {
    using identifier = ducks::st_id;
    using dtype = T;
    constant static constexpr int rows = _rows, cols = _cols, stride = _cols + _pad;
    T data[_rows * stride];

    METAL_FUNC threadgroup T& operator[](int2 at) threadgroup { return data[at.x * stride + at.y]; }
    METAL_FUNC const threadgroup T& operator[](int2 at) const threadgroup {
        return data[at.x * stride + at.y];
    }
};

// A global layout: only the last two of four dimensions are those of tiles.
template <typename T>
struct gl {
    device T* raw;
    int batch, depth, rows, cols;
    METAL_FUNC device T* at(int4 tile, int tile_rows, int tile_cols) const thread {
        return raw + ((tile.x * depth + tile.y) * rows + tile.z * tile_rows) * cols + tile.w * tile_cols;
    }
};

namespace base_ops {
struct sum { template <typename T> static METAL_FUNC T op(T a, T b) { return a + b; } };
struct most { template <typename T> static METAL_FUNC T op(T a, T b) { return metal::max(a, b); } };
struct exp { template <typename T> static METAL_FUNC T op(T a) { return T(metal::exp(float(a))); } };
}  // namespace base_ops

template <typename RT>
METAL_FUNC void zero(thread RT& dst) {
    static_assert(ducks::is_register_tile<RT>(), "zero takes a register tile");
    #pragma clang loop unroll(full)
    for (int i = 0; i < RT::height; i++) {
        #pragma clang loop unroll(full)
        for (int j = 0; j < RT::width; j++) {
            dst.tiles[i][j] = make_filled_simdgroup_matrix<typename RT::dtype, 8>(0);
        }
    }
}

template <typename Op, typename RT>
METAL_FUNC void unary_map(thread RT& dst) {
    for (int i = 0; i < RT::height; i++) {
        for (int j = 0; j < RT::width; j++) {
            thread auto& e = dst.tiles[i][j].thread_elements();
            e[0] = Op::template op<typename RT::dtype>(e[0]);
            e[1] = Op::template op<typename RT::dtype>(e[1]);
        }
    }
}

// A row's value is known to the four lanes that hold its elements: they differ in bits 0 and 3.
template <typename Op, typename RT, typename T = typename RT::dtype>
METAL_FUNC void row_reduce(thread T (&out)[RT::height], thread RT& src) {
    for (int i = 0; i < RT::height; i++) {
        T mine = Op::op(src.tiles[i][0].thread_elements()[0], src.tiles[i][0].thread_elements()[1]);
        for (int j = 1; j < RT::width; j++) {
            mine = Op::op(mine, Op::op(src.tiles[i][j].thread_elements()[0],
                                       src.tiles[i][j].thread_elements()[1]));
        }
        mine = Op::op(mine, simd_shuffle_xor(mine, 1));
        out[i] = Op::op(mine, simd_shuffle_xor(mine, 8));
    }
}

template <typename RT, typename F, typename T = typename RT::dtype>
METAL_FUNC void row_map(thread RT& dst, thread const T (&row)[RT::height], F f) {
    for (int i = 0; i < RT::height; i++) {
        for (int j = 0; j < RT::width; j++) {
            thread auto& e = dst.tiles[i][j].thread_elements();
            e = vec<T, 2>(f(e[0], row[i]), f(e[1], row[i]));
        }
    }
}

template <typename ST, typename U, int threads>
METAL_FUNC void load(threadgroup ST& dst, thread const gl<U>& src, int4 tile, uint tid) {
    static_assert(ducks::is_shared_tile<ST>(), "this load fills a shared tile");
    const device U* from = src.at(tile, ST::rows, ST::cols);
    for (int i = tid; i < ST::rows * ST::cols; i += threads) {
        dst[int2(i / ST::cols, i % ST::cols)] = typename ST::dtype(from[i / ST::cols * src.cols + i % ST::cols]);
    }
}

template <typename RT, typename U>
METAL_FUNC void store(thread const gl<U>& dst, thread const RT& src, int4 tile) {
    device U* to = dst.at(tile, RT::rows, RT::cols);
    for (int i = 0; i < RT::height; i++) {
        for (int j = 0; j < RT::width; j++) {
            simdgroup_store(src.tiles[i][j], to + 8 * i * dst.cols + 8 * j, dst.cols);
        }
    }
}

// D += A B^T
template <typename D, typename A, typename B>
METAL_FUNC void mma_ABt(thread D& d, thread const A& a, threadgroup B& b) {
    static_assert(A::rows == D::rows && B::rows == D::cols && A::cols == B::cols, "shapes agree");
    for (int j = 0; j < D::width; j++) {
        for (int k = 0; k < A::width; k++) {
            simdgroup_matrix<typename B::dtype, 8, 8> part;
            simdgroup_load(part, &b[int2(8 * j, 8 * k)], B::stride, 0, true);
            for (int i = 0; i < D::height; i++) {
                simdgroup_multiply_accumulate(d.tiles[i][j], a.tiles[i][k], part, d.tiles[i][j]);
            }
        }
    }
}
}  // namespace tk

using namespace tk;

// Rows of softmax(Q K^T / sqrt(D)): a simdgroup has 8 queries and all keys in registers.
template <typename T, int D, int KEYS>
kernel void scores(device T* q [[buffer(0)]], device T* k [[buffer(1)]], device float* out [[buffer(2)]],
                   constant int3& shape [[buffer(3)]],  // batch, heads, queries
                   uint3 tgid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]]) {
    constexpr int simdgroups = 2;
    threadgroup st<T, 8 * simdgroups, D> q_shared;
    threadgroup st<T, KEYS, D> k_shared;
    const gl<T> gq{q, shape.x, shape.y, shape.z, D}, gk{k, shape.x, shape.y, KEYS, D};
    const gl<float> go{out, shape.x, shape.y, shape.z, KEYS};
    load<st<T, 8 * simdgroups, D>, T, 32 * simdgroups>(q_shared, gq, int4(tgid.z, tgid.y, tgid.x, 0), tid);
    load<st<T, KEYS, D>, T, 32 * simdgroups>(k_shared, gk, int4(tgid.z, tgid.y, 0, 0), tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    rt<T, 8, D> q_reg;
    for (int j = 0; j < D / 8; j++) {
        simdgroup_load(q_reg.tiles[0][j], &q_shared[int2(8 * sg, 8 * j)], st<T, 8 * simdgroups, D>::stride);
    }
    rt<float, 8, KEYS> att;
    zero(att);
    mma_ABt(att, q_reg, k_shared);
    float most[1], total[1];
    const float scale = rsqrt(float(D));
    row_reduce<base_ops::most>(most, att);
    row_map(att, most, [=](float x, float m) { return (x - m) * scale; });
    unary_map<base_ops::exp>(att);
    row_reduce<base_ops::sum>(total, att);
    row_map(att, total, [](float x, float sum) { return x / sum; });
    store(go, att, int4(tgid.z, tgid.y, tgid.x * simdgroups + sg, 0));
}

#define instantiate_scores(name, T, D, KEYS)                                              \
    template [[host_name("scores_" #name "_" #D "_" #KEYS)]] [[kernel]] void scores<T, D, KEYS>( \
        device T*, device T*, device float*, constant int3&, uint3, uint, uint);
instantiate_scores(bf16, bfloat, 32, 40)
instantiate_scores(f32, float, 16, 64)
