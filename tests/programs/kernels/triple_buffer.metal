// A product with FP4 weights in three buffers: two simdgroups load, two compute. Prologue, loop,
// barrier and rotation of the indices stand as a design note has them, what it leaves superfluous
// included: the first values of both indices are never used. What it only names is written here.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant constexpr uint TILE_M = 64;
constant constexpr uint TILE_N = 64;
constant constexpr uint TILE_K = 32;

// 8x8 matrices of each of the two simdgroups that compute: rows 0 to 31, and 32 to 63. Of columns the
// note's text has eight in one place and four in another.
#ifndef COLUMN_TILES
#define COLUMN_TILES 8
#endif
constant constexpr uint ROW_TILES = 4;

struct Sizes {
    uint m;
    uint n;
    uint k;
    uint group;
};

// Elements from `begin` on, `step` apart; zeros beyond the matrix.
inline void load_A(const device half* A, threadgroup half (&tile)[TILE_M][TILE_K],
                   constant Sizes& sizes, uint row, uint k, uint begin, uint step) {
    for (uint i = begin; i < TILE_M * TILE_K; i += step) {
        const uint r = i / TILE_K;
        const uint c = i % TILE_K;
        const bool is_inside = row + r < sizes.m && k + c < sizes.k;
        tile[r][c] = is_inside ? A[(row + r) * sizes.k + k + c] : 0.0h;
    }
}

// Words of eight weights along k, [k / 8][n]; a half of the scale for each group of k and column.
inline void load_B_dequant(const device uint* B, const device half* scales,
                           threadgroup half (&tile)[TILE_K][TILE_N], constant Sizes& sizes,
                           uint column, uint k, uint begin, uint step) {
    for (uint i = begin; i < TILE_K / 8 * TILE_N; i += step) {
        const uint down = i / TILE_N * 8;
        const uint n = column + i % TILE_N;
        uint codes = 0;
        float scale = 0;
        if (k + down < sizes.k && n < sizes.n) {
            codes = B[(k + down) / 8 * sizes.n + n];
            scale = float(scales[(k + down) / sizes.group * sizes.n + n]);
        }
        for (uint e = 0; e < 8; ++e) {
            const uint code = codes >> (4 * e) & 15;
            // One bit of sign, two of exponent, one of mantissa, as a small half.
            const half small = as_type<half>(ushort((code & 7) << 9 | (code & 8) << 12));
            tile[down + e][i % TILE_N] = half(float(small) * 16384.0f * scale);
        }
    }
}

inline void compute_partial(threadgroup half (&A_tile)[TILE_M][TILE_K],
                            threadgroup half (&B_tile)[TILE_K][TILE_N],
                            thread simdgroup_float8x8 (&acc)[ROW_TILES][COLUMN_TILES], uint which) {
    for (uint kk = 0; kk < TILE_K; kk += 8) {
        simdgroup_half8x8 a[ROW_TILES];
        for (uint i = 0; i < ROW_TILES; ++i) {
            simdgroup_load(a[i], &A_tile[(which * ROW_TILES + i) * 8][kk], TILE_K);
        }
        for (uint j = 0; j < COLUMN_TILES; ++j) {
            simdgroup_half8x8 b;
            simdgroup_load(b, &B_tile[kk][8 * j], TILE_N);
            for (uint i = 0; i < ROW_TILES; ++i) {
                simdgroup_multiply_accumulate(acc[i][j], a[i], b, acc[i][j]);
            }
        }
    }
}

kernel void triple_buffered(const device half* A [[buffer(0)]], const device uint* B [[buffer(1)]],
                            const device half* scales [[buffer(2)]], device float* C [[buffer(3)]],
                            constant Sizes& sizes [[buffer(4)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint thread_idx [[thread_index_in_threadgroup]],
                            uint simd_id [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
    threadgroup half A_buf[3][TILE_M][TILE_K];
    threadgroup half B_buf[3][TILE_K][TILE_N];
    threadgroup float staging[2][64];
    const uint row = group.y * TILE_M;
    const uint column = group.x * TILE_N;
    const uint num_k_tiles = (sizes.k + TILE_K - 1) / TILE_K;
    simdgroup_float8x8 acc[ROW_TILES][COLUMN_TILES];
    for (uint i = 0; i < ROW_TILES; ++i) {
        for (uint j = 0; j < COLUMN_TILES; ++j) {
            acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
    }

    uint buf_load = 0;
    uint buf_compute = 2;

    load_A(A, A_buf[0], sizes, row, 0, thread_idx, 128);
    load_B_dequant(B, scales, B_buf[0], sizes, column, 0, thread_idx, 128);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    load_A(A, A_buf[1], sizes, row, TILE_K, thread_idx, 128);
    load_B_dequant(B, scales, B_buf[1], sizes, column, TILE_K, thread_idx, 128);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    buf_compute = 0;
    buf_load = 2;

    for (uint kt = 0; kt < num_k_tiles; ++kt) {
        uint next_k = (kt + 2) * TILE_K;

        if (simd_id < 2) {
            if (next_k < sizes.k) {
                load_A(A, A_buf[buf_load], sizes, row, next_k, thread_idx, 64);
                load_B_dequant(B, scales, B_buf[buf_load], sizes, column, next_k, thread_idx, 64);
            }
        } else {
            compute_partial(A_buf[buf_compute], B_buf[buf_compute], acc, simd_id - 2);
        }

        threadgroup_barrier(mem_flags::mem_threadgroup);

        buf_compute = (buf_compute + 1) % 3;
        buf_load = (buf_load + 1) % 3;
    }

    if (simd_id < 2) {
        return;
    }
    threadgroup float* own = staging[simd_id - 2];
    for (uint i = 0; i < ROW_TILES; ++i) {
        for (uint j = 0; j < COLUMN_TILES; ++j) {
            simdgroup_store(acc[i][j], own, 8);
            simdgroup_barrier(mem_flags::mem_threadgroup);
            for (uint e = lane; e < 64; e += 32) {
                const uint r = row + ((simd_id - 2) * ROW_TILES + i) * 8 + e / 8;
                const uint c = column + j * 8 + e % 8;
                if (r < sizes.m && c < sizes.n) {
                    C[r * sizes.n + c] = own[e];
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
}
