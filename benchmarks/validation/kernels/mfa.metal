// The matrix product of Metal FlashAttention on GPUs without a direct path (Apple7 and 8), in the
// manner of its public source: blocks of BM x BN by four simdgroups, tiles of BK in threadgroup
// memory without padding, the edge of the matrix reached by shifting the last blocks inward, the rest
// of K taken by steps of 8. There a simdgroup copies tiles asynchronously, for which this project's
// machine has no instruction; here all four carry pieces of 16 bytes, which takes them two per cent
// of their instructions.
//
// Put before this text: T, the type in memory; REG, the factors' type in registers (float where T is
// bfloat, which these GPUs widen by moving halves of registers); ACC, that of the sums; BM, BN, BK;
// TRANSPOSED_A and TRANSPOSED_B, 1 for what is stored by columns; TAIL, what is left of K beyond
// whole BK; IS_BFLOAT, 1 where T is bfloat and REG and ACC are float.
#include <metal_stdlib>
using namespace metal;

struct Shape {
    uint m, n, k;
};

constant constexpr uint THREADS = 128, WIDE = 16 / sizeof(T);
constant constexpr uint RM = BM / 2, RN = BN / 2;  // what a simdgroup has
constant constexpr uint TM = RM / 8, TN = RN / 8;

REG widened(T x) {
#if IS_BFLOAT
    return as_type<float>(uint(as_type<ushort>(x)) << 16);
#else
    return REG(x);
#endif
}

T narrowed(ACC x) {
#if IS_BFLOAT
    return as_type<T>(ushort(as_type<uint>(x) >> 16));
#else
    return T(x);
#endif
}

// A tile of ROWS x COLUMNS on its way to threadgroup memory, in pieces of 16 bytes.
template <uint ROWS, uint COLUMNS> struct Tile {
    static constant constexpr uint PER_ROW = COLUMNS / WIDE;
    static constant constexpr uint EACH = (ROWS * PER_ROW + THREADS - 1) / THREADS;
    static constant constexpr bool EVEN = ROWS * PER_ROW % THREADS == 0;
    uint index;
    T pieces[EACH * WIDE];

    bool mine(uint i) { return EVEN || i * THREADS + index < ROWS * PER_ROW; }
    uint row(uint i) { return (i * THREADS + index) / PER_ROW; }
    uint column(uint i) { return (i * THREADS + index) % PER_ROW * WIDE; }

    // Rows and columns beyond those that are there are not needed; the last ones stand for them.
    void load(device const T* from, uint leading, uint rows, uint columns) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            if (mine(i)) {
                device const T* at =
                    from + min(row(i), rows - 1) * leading + min(column(i), columns - WIDE);
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    pieces[i * WIDE + j] = at[j];
                }
            }
        }
    }
    // The last tile, which is not whole: zero beyond.
    void load_rest(device const T* from, uint leading, uint rows, uint columns) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            if (mine(i)) {
                device const T* at = from + min(row(i), rows - 1) * leading;
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    const bool inside = row(i) < rows && column(i) + j < columns;
                    const T x = at[min(column(i) + j, columns - 1)];
                    pieces[i * WIDE + j] = inside ? x : T(0);
                }
            }
        }
    }
    void store(threadgroup T* to) {
#pragma unroll
        for (uint i = 0; i < EACH; ++i) {
            if (mine(i)) {
                threadgroup T* at = to + row(i) * COLUMNS + column(i);
#pragma unroll
                for (uint j = 0; j < WIDE; ++j) {
                    at[j] = pieces[i * WIDE + j];
                }
            }
        }
    }
};

#if TRANSPOSED_A
typedef Tile<BK, BM> TileA;
constant constexpr uint LEADING_A = BM;
#else
typedef Tile<BM, BK> TileA;
constant constexpr uint LEADING_A = BK;
#endif
#if TRANSPOSED_B
typedef Tile<BN, BK> TileB;
constant constexpr uint LEADING_B = BK;
#else
typedef Tile<BK, BN> TileB;
constant constexpr uint LEADING_B = BN;
#endif

// A lane's two neighbours of a row of 8 x 8.
template <bool TRANSPOSED, uint LEADING>
void fetch(thread simdgroup_matrix<REG, 8, 8>& to, threadgroup const T* from, uint row, uint column) {
    threadgroup const T* at = from + (TRANSPOSED ? column * LEADING + row : row * LEADING + column);
    to.thread_elements() = vec<REG, 2>(widened(at[0]), widened(at[TRANSPOSED ? LEADING : 1]));
}

struct Sums {
    simdgroup_matrix<ACC, 8, 8> tile[TM][TN];

    void clear() {
#pragma unroll
        for (uint i = 0; i < TM * TN; ++i) {
            tile[i / TN][i % TN] = make_filled_simdgroup_matrix<ACC, 8>(ACC(0));
        }
    }
    void add(threadgroup const T* as, threadgroup const T* bs, uint k) {
        simdgroup_matrix<REG, 8, 8> a[TM], b[TN];
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
            fetch<TRANSPOSED_A, LEADING_A>(a[i], as, 8 * i, k);
        }
#pragma unroll
        for (uint j = 0; j < TN; ++j) {
            fetch<TRANSPOSED_B, LEADING_B>(b[j], bs, k, 8 * j);
        }
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                simdgroup_multiply_accumulate(tile[i][j], a[i], b[j], tile[i][j]);
            }
        }
    }
    void store(device T* c, uint leading) {
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                const vec<ACC, 2> pair = tile[i][j].thread_elements();
                device T* to = c + 8 * i * leading + 8 * j;
                to[0] = narrowed(pair.x);
                to[1] = narrowed(pair.y);
            }
        }
    }
};

// Where a block begins, moved inward if the matrix ends in its first simdgroup's part.
uint start(uint block, uint size, uint each, uint part) {
    const uint rest = size % part;
    const bool last = block * each >= size - size % each;
    return block * each - (rest > 0 && last ? part - rest : 0);
}

kernel void product(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                    device T* c [[buffer(2)]], constant Shape& given [[buffer(3)]],
                    uint2 group [[threadgroup_position_in_grid]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint thread_index [[thread_index_in_threadgroup]]) {
    threadgroup T as[BM * BK], bs[BK * BN];
    const Shape shape = given;
    const uint in_row = (lane / 4 & 4) + lane / 2 % 4, in_column = (lane / 4 & 2) * 2 + lane % 2 * 2;
    const uint row = simdgroup / 2 * RM, column = simdgroup % 2 * RN;
    const uint first_row = start(group.y, shape.m, BM, RM);
    const uint first_column = start(group.x, shape.n, BN, RN);
    // Simdgroups that are wholly outside only carry.
    const bool works = group.y * BM + row < shape.m && group.x * BN + column < shape.n;
    const uint rows = min(uint(BM), shape.m - first_row);
    const uint columns = min(uint(BN), shape.n - first_column);

    device const T* from_a = a + (TRANSPOSED_A ? first_row : first_row * shape.k);
    device const T* from_b = b + (TRANSPOSED_B ? first_column * shape.k : first_column);
    const uint leading_a = TRANSPOSED_A ? shape.m : shape.k;
    const uint leading_b = TRANSPOSED_B ? shape.k : shape.n;
    threadgroup const T* my_a = as + (TRANSPOSED_A ? in_column * LEADING_A + row + in_row
                                                   : (row + in_row) * LEADING_A + in_column);
    threadgroup const T* my_b = bs + (TRANSPOSED_B ? (column + in_column) * LEADING_B + in_row
                                                   : in_row * LEADING_B + column + in_column);
    Sums sums;
    sums.clear();
    const uint whole = shape.k - TAIL;
    for (uint k = 0; k < whole; k += BK) {
        TileA tile_a = {.index = thread_index};  // anew: nothing of it is carried around the loop
        TileB tile_b = {.index = thread_index};
        tile_a.load(from_a, leading_a, TRANSPOSED_A ? BK : rows, TRANSPOSED_A ? rows : BK);
        tile_b.load(from_b, leading_b, TRANSPOSED_B ? columns : BK, TRANSPOSED_B ? BK : columns);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        tile_a.store(as);
        tile_b.store(bs);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (works) {
#pragma unroll
            for (uint step = 0; step < BK; step += 8) {
                sums.add(my_a, my_b, step);
            }
        }
        from_a += TRANSPOSED_A ? BK * leading_a : BK;
        from_b += TRANSPOSED_B ? BK : BK * leading_b;
    }
#if TAIL
    TileA tile_a = {.index = thread_index};
    TileB tile_b = {.index = thread_index};
    tile_a.load_rest(from_a, leading_a, TRANSPOSED_A ? TAIL : rows, TRANSPOSED_A ? rows : TAIL);
    tile_b.load_rest(from_b, leading_b, TRANSPOSED_B ? columns : TAIL, TRANSPOSED_B ? TAIL : columns);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile_a.store(as);
    tile_b.store(bs);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (works) {
#pragma unroll
        for (uint step = 0; step < TAIL; step += 8) {
            sums.add(my_a, my_b, step);
        }
    }
#endif
    if (works) {
        sums.store(c + (first_row + row + in_row) * shape.n + first_column + column + in_column,
                   shape.n);
    }
}
