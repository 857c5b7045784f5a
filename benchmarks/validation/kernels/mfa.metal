// The matrix product of Metal FlashAttention on Apple7 and 8, in the manner of its public source:
// blocks of BM x BN by four simdgroups, tiles of BK in threadgroup memory without padding, which the
// first simdgroup copies asynchronously for all and waits for, the edge of the matrix reached by
// shifting the last blocks inward, the rest of K taken by steps of 8.
//
// Put before this text: T, the type in memory; REG, the factors' type in registers (float where T is
// bfloat, which these GPUs widen by moving halves of registers); ACC, that of the sums; BM, BN, BK;
// TRANSPOSED_A and TRANSPOSED_B, 1 for what is stored by columns; TAIL, what is left of K beyond
// whole BK; IS_BFLOAT, 1 where T is bfloat and REG and ACC are float; ASYNC_STORE, 1 where results go
// through threadgroup memory, from which they are copied, too.
#include <metal_stdlib>
using namespace metal;

struct Shape {
    uint m, n, k;
};

struct _simdgroup_event_t;
thread _simdgroup_event_t* __copy_in(
    ulong, ulong, threadgroup void*, ulong, ulong, ulong2, const device void*, ulong, ulong, ulong2,
    long2, int) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t* __copy_out(
    ulong, ulong, device void*, ulong, ulong, ulong2, const threadgroup void*, ulong, ulong, ulong2,
    long2, int) __asm("air.simdgroup_async_copy_2d.p1i8.p3i8");
void __wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

constant constexpr uint RM = BM / 2, RN = BN / 2;  // what a simdgroup has
constant constexpr uint TM = RM / 8, TN = RN / 8;
// How deep the last tile is, and how deep it is computed with.
constant constexpr uint LAST = TAIL ? TAIL : BK, PADDED = (LAST + 7) / 8 * 8;
constant constexpr uint LEADING_A = TRANSPOSED_A ? BM : BK, LEADING_B = TRANSPOSED_B ? BK : BN;
constant constexpr uint TILES = (BM + BN) * BK, ROOM = TILES > BM * BN ? TILES : BM * BN;

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

// Columns and rows of a tile, those that are stored the other way exchanged.
ulong2 tile(bool transposed, uint columns, uint rows) {
    return transposed ? ulong2(rows, columns) : ulong2(columns, rows);
}

// A tile on its way to threadgroup memory; zero beyond what there is.
thread _simdgroup_event_t* bring(threadgroup T* to, uint to_leading, ulong2 to_tile,
                                 device const T* from, uint leading, ulong2 from_tile) {
    return __copy_in(sizeof(T), alignof(T), to, to_leading, 1, to_tile, from, leading, 1, from_tile,
                     long2(0), 0);
}

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
    template <class Pointer> void store(Pointer c, uint leading) {
#pragma unroll
        for (uint i = 0; i < TM; ++i) {
#pragma unroll
            for (uint j = 0; j < TN; ++j) {
                const vec<ACC, 2> pair = tile[i][j].thread_elements();
                Pointer to = c + 8 * i * leading + 8 * j;
                to[0] = narrowed(pair.x);
                to[1] = narrowed(pair.y);
            }
        }
    }
};

// By how much the last block is moved inward, since the matrix ends in a simdgroup's part.
uint shift(uint block, uint size, uint each, uint part) {
    const uint rest = size % part;
    return rest > 0 && block * each >= size - size % each ? part - rest : 0;
}

kernel void product(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                    device T* c [[buffer(2)]], constant Shape& given [[buffer(3)]],
                    uint2 group [[threadgroup_position_in_grid]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup T room[ROOM];
    threadgroup T* as = room;
    threadgroup T* bs = room + BM * BK;
    const Shape shape = given;
    const uint in_row = (lane / 4 & 4) + lane / 2 % 4, in_column = (lane / 4 & 2) * 2 + lane % 2 * 2;
    const uint row = simdgroup / 2 * RM, column = simdgroup % 2 * RN;
    if (group.y * BM + row >= shape.m || group.x * BN + column >= shape.n) {
        return;  // wholly outside
    }
    const uint moved_rows = shift(group.y, shape.m, BM, RM);
    const uint moved_columns = shift(group.x, shape.n, BN, RN);
    const uint first_row = group.y * BM - moved_rows;
    const uint first_column = group.x * BN - moved_columns;
    const uint rows = min(uint(BM), shape.m - first_row);
    const uint columns = min(uint(BN), shape.n - first_column);

    const uint leading_a = TRANSPOSED_A ? shape.m : shape.k;
    const uint leading_b = TRANSPOSED_B ? shape.k : shape.n;
    threadgroup const T* my_a = as + (TRANSPOSED_A ? in_column * LEADING_A + row + in_row
                                                   : (row + in_row) * LEADING_A + in_column);
    threadgroup const T* my_b = bs + (TRANSPOSED_B ? (column + in_column) * LEADING_B + in_row
                                                   : in_row * LEADING_B + column + in_column);
    Sums sums;
    sums.clear();
    for (uint k = 0; k < shape.k; k += BK) {
        if (simdgroup == 0) {
            device const T* from_a = a + (TRANSPOSED_A ? k * leading_a + first_row
                                                       : first_row * leading_a + k);
            device const T* from_b = b + (TRANSPOSED_B ? first_column * leading_b + k
                                                       : k * leading_b + first_column);
            const uint depth = min(uint(BK), shape.k - k);
            const uint padded = min(uint(BK), shape.k + PADDED - LAST - k);
            thread _simdgroup_event_t* events[2];
            events[0] = bring(as, LEADING_A, tile(TRANSPOSED_A, padded, rows), from_a, leading_a,
                              tile(TRANSPOSED_A, depth, rows));
            events[1] = bring(bs, LEADING_B, tile(TRANSPOSED_B, columns, padded), from_b, leading_b,
                              tile(TRANSPOSED_B, columns, depth));
            __wait(2, events);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint step = 0; step < PADDED; step += 8) {
            sums.add(my_a, my_b, step);
        }
        if (k + BK < shape.k) {
#pragma unroll
            for (uint step = PADDED; step < BK; step += 8) {
                sums.add(my_a, my_b, step);
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
#if ASYNC_STORE
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sums.store(room + (row + in_row) * BN + column + in_column, BN);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        const uint2 at = group * uint2(BN, BM);
        const ulong2 left = ulong2(min(uint(BN), shape.n - at.x), min(uint(BM), shape.m - at.y));
        __copy_out(sizeof(T), alignof(T), c + at.y * shape.n + at.x, shape.n, 1, left,
                   room + moved_rows * BN + moved_columns, BN, 1, left, long2(0), 0);
    }
#else
    sums.store(c + (first_row + row + in_row) * shape.n + first_column + column + in_column,
               shape.n);
#endif
}
