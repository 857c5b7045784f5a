// Matrix products C = A B of row-major matrices, in the ways that published rows compare. Put before
// this text: T, the type of the elements, ACC, that of the sums, and the block of a threadgroup,
// BM x BN x BK, shared by WM x WN simdgroups. BOUNDED is 1 where sizes are not whole blocks, WIDENED
// where the factors of SIMD-group matrices become floats before they are multiplied, as in MLX. WIDE
// is how many elements a thread carries to threadgroup memory at a time.
#include <metal_stdlib>
using namespace metal;

struct Shape {
    uint m, n, k;
    float one;  // see `widened`
};

// One element of the result per thread, all of it from device memory.
kernel void naive(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                  device T* c [[buffer(2)]], constant Shape& shape [[buffer(3)]],
                  uint2 at [[thread_position_in_grid]]) {
    if (at.x >= shape.n || at.y >= shape.m) {
        return;
    }
    float sum = 0;
    const uint n = shape.n, depth = shape.k;
    a += at.y * depth;
    b += at.x;
    for (uint k = 0; k < depth; ++k) {
        sum += float(a[k]) * float(b[k * n]);
    }
    c[at.y * shape.n + at.x] = T(sum);
}

// 4 x 4 elements of the result per thread, 16 apart, from tiles of 64 x 16 and 16 x 64 in threadgroup memory.
constant constexpr uint TILE = 64, DEPTH = 16;

kernel void tiled(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                  device T* c [[buffer(2)]], constant Shape& shape [[buffer(3)]],
                  uint2 group [[threadgroup_position_in_grid]],
                  uint2 in_group [[thread_position_in_threadgroup]],
                  uint thread_index [[thread_index_in_threadgroup]]) {
    threadgroup T as[TILE][DEPTH];
    threadgroup T bs[DEPTH][TILE];
    const uint n = shape.n, depth = shape.k;
    a += group.y * TILE * depth;
    b += group.x * TILE;
    float sums[4][4] = {};
    for (uint k = 0; k < depth; k += DEPTH) {
#pragma unroll
        for (uint i = 0; i < TILE * DEPTH / 256; ++i) {
            const uint at = i * 256 + thread_index;
            as[at / DEPTH][at % DEPTH] = a[at / DEPTH * depth + k + at % DEPTH];
            bs[at / TILE][at % TILE] = b[(k + at / TILE) * n + at % TILE];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint d = 0; d < DEPTH; ++d) {
            float left[4], right[4];
#pragma unroll
            for (uint i = 0; i < 4; ++i) {
                left[i] = float(as[in_group.y + 16 * i][d]);
                right[i] = float(bs[d][in_group.x + 16 * i]);
            }
#pragma unroll
            for (uint i = 0; i < 16; ++i) {
                sums[i / 4][i % 4] = fma(left[i / 4], right[i % 4], sums[i / 4][i % 4]);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c += (group.y * TILE + in_group.y) * n + group.x * TILE + in_group.x;
#pragma unroll
    for (uint i = 0; i < 16; ++i) {
        c[16 * (i / 4) * n + 16 * (i % 4)] = T(sums[i / 4][i % 4]);
    }
}

// SIMD-group matrices. A simdgroup has TM x TN of 8 x 8 of the block.
constant constexpr uint TM = BM / (8 * WM), TN = BN / (8 * WN);
constant constexpr uint THREADS = 32 * WM * WN;

struct Sums {
    simdgroup_matrix<ACC, 8, 8> tile[TM][TN];

    void clear() {
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                tile[i][j] = make_filled_simdgroup_matrix<ACC, 8>(ACC(0));
            }
        }
    }

    template <typename Matrix> void add(thread Matrix (&a)[TM], thread Matrix (&b)[TN]) {
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                simdgroup_multiply_accumulate(tile[i][j], a[i], b[j], tile[i][j]);
            }
        }
    }

    // Two neighbours of a row per lane, rounded to T.
    void store(device T* c, uint row, uint column, Shape shape, uint lane) {
        const uint quarter = lane / 4;
        const uint in_row = (quarter & 4) + (lane / 2) % 4;
        const uint in_column = (quarter & 2) * 2 + (lane % 2) * 2;
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                const vec<ACC, 2> pair = tile[i][j].thread_elements();
                const uint r = row + 8 * i + in_row, s = column + 8 * j + in_column;
                device T* to = c + r * shape.n + s;
#if BOUNDED
                if (r < shape.m && s < shape.n) {
                    to[0] = T(pair.x);
                }
                if (r < shape.m && s + 1 < shape.n) {
                    to[1] = T(pair.y);
                }
#else
                *(device vec<T, 2>*)to = vec<T, 2>(pair);
#endif
            }
        }
    }
};

// Straight from device memory.
kernel void direct(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                   device T* c [[buffer(2)]], constant Shape& given [[buffer(3)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
    const Shape shape = given;
    const uint row = group.y * BM + simdgroup / WN * (TM * 8);
    const uint column = group.x * BN + simdgroup % WN * (TN * 8);
    Sums sums;
    sums.clear();
    device const T* from_a = a + row * shape.k;
    device const T* from_b = b + column;
    for (uint k = 0; k < shape.k; k += BK) {
#pragma unroll
        for (uint step = 0; step < BK; step += 8) {
            simdgroup_matrix<T, 8, 8> as[TM], bs[TN];
#pragma unroll
            for (uint i = 0; i < TM; ++i) {
                simdgroup_load(as[i], from_a + 8 * i * shape.k + step, shape.k);
            }
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                simdgroup_load(bs[j], from_b + step * shape.n + 8 * j, shape.n);
            }
            sums.add(as, bs);
        }
        from_a += BK;
        from_b += BK * shape.n;
    }
    sums.store(c, row, column, shape, lane);
}

// Loads and stores of a block of ROWS x COLUMNS to threadgroup memory are apart, so that all loads
// are under way before the first store waits.
constant constexpr uint PADDING = 16 / sizeof(T);

template <uint ROWS, uint COLUMNS, uint STRIDE> struct Stage {
    static constant constexpr uint PER_ROW = COLUMNS / WIDE;
    static constant constexpr uint EACH = (ROWS * PER_ROW + THREADS - 1) / THREADS;
    static constant constexpr bool EVEN = ROWS * PER_ROW % THREADS == 0;
    T chunks[EACH * WIDE];
    uint offsets[EACH];

    void place(uint thread_index, uint leading) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            const uint piece = i * THREADS + thread_index;
            offsets[i] = row(piece) * leading + column(piece);
        }
    }
    static bool exists(uint piece) { return EVEN || piece < ROWS * PER_ROW; }
    static uint row(uint piece) { return piece / PER_ROW; }
    static uint column(uint piece) { return piece % PER_ROW * WIDE; }

    void load(device const T* from, uint thread_index) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            if (exists(i * THREADS + thread_index)) {
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    chunks[i * WIDE + j] = (from + offsets[i])[j];
                }
            }
        }
    }
    // At the edges of a matrix: zero outside; pieces that are all inside are loaded at once.
    void load_inside(device const T* from, uint rows_left, uint columns_left, uint thread_index) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            const uint piece = i * THREADS + thread_index, first = column(piece);
            const uint past = columns_left > first ? columns_left - first : 0;
            const uint have = exists(piece) && row(piece) < rows_left ? past : 0;
#pragma unroll
            for (uint j = 0; j < WIDE; ++j) {
                chunks[i * WIDE + j] = T(0);
            }
            if (have >= WIDE) {
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    chunks[i * WIDE + j] = (from + offsets[i])[j];
                }
            } else if (have > 0) {
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    chunks[i * WIDE + j] = j < have ? (from + offsets[i])[j] : T(0);
                }
            }
        }
    }
    void store(threadgroup T* to, uint thread_index) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            const uint piece = i * THREADS + thread_index;
            if (exists(piece)) {
                threadgroup T* at = to + row(piece) * STRIDE + column(piece);
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    at[j] = chunks[i * WIDE + j];
                }
            }
        }
    }
};

#if WIDENED
typedef simdgroup_matrix<float, 8, 8> Factor;
// The instruction that makes a float of T. It is written as a product with 1 for halves, since products
// of matrices would take them as they are.
float widened(half x, float one) { return float(x) * one; }
float widened(bfloat x, float) { return as_type<float>(uint(as_type<ushort>(x)) << 16); }
void fetch(thread Factor& to, threadgroup const T* from, uint stride, uint lane, float one) {
    const uint in_row = (lane / 4 & 4) + lane / 2 % 4, in_column = (lane / 4 & 2) * 2 + lane % 2 * 2;
    threadgroup const T* at = from + in_row * stride + in_column;
    to.thread_elements() = float2(widened(at[0], one), widened(at[1], one));
}
#else
typedef simdgroup_matrix<T, 8, 8> Factor;
void fetch(thread Factor& to, threadgroup const T* from, uint stride, uint, float) {
    simdgroup_load(to, from, stride);
}
#endif

// Through threadgroup memory, whose rows are padded by 16 bytes.
kernel void staged(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                   device T* c [[buffer(2)]], constant Shape& given [[buffer(3)]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint thread_index [[thread_index_in_threadgroup]]) {
    constexpr uint stride_a = BK + PADDING, stride_b = BN + PADDING;
    threadgroup T as[BM * stride_a];
    threadgroup T bs[BK * stride_b];
    const Shape shape = given;
    a += group.z * shape.m * shape.k;  // a batch
    b += group.z * shape.k * shape.n;
    c += group.z * shape.m * shape.n;
    const uint row = simdgroup / WN * (TM * 8), column = simdgroup % WN * (TN * 8);
    const uint first_row = group.y * BM, first_column = group.x * BN;
    const uint rows_left = shape.m - first_row, columns_left = shape.n - first_column;
    Sums sums;
    sums.clear();
    Stage<BM, BK, stride_a> stage_a;
    Stage<BK, BN, stride_b> stage_b;
    stage_a.place(thread_index, shape.k);
    stage_b.place(thread_index, shape.n);
    device const T* from_a = a + first_row * shape.k;
    device const T* from_b = b + first_column;
    for (uint k = 0; k < shape.k; k += BK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
#if BOUNDED
        if (rows_left < BM || columns_left < BN || shape.k - k < BK) {
            stage_a.load_inside(from_a, rows_left, shape.k - k, thread_index);
            stage_b.load_inside(from_b, shape.k - k, columns_left, thread_index);
        } else
#endif
        {
            stage_a.load(from_a, thread_index);
            stage_b.load(from_b, thread_index);
        }
        stage_a.store(as, thread_index);
        stage_b.store(bs, thread_index);
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint step = 0; step < BK; step += 8) {
            Factor at[TM], bt[TN];
#pragma unroll
            for (uint i = 0; i < TM; ++i) {
                fetch(at[i], as + (row + 8 * i) * stride_a + step, stride_a, lane, shape.one);
            }
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                fetch(bt[j], bs + step * stride_b + column + 8 * j, stride_b, lane, shape.one);
            }
            simdgroup_barrier(mem_flags::mem_none);
            sums.add(at, bt);
        }
        from_a += BK;
        from_b += BK * shape.n;
    }
    sums.store(c, first_row + row, first_column + column, shape, lane);
}
