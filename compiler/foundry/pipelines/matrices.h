using Sums = simdgroup_matrix<S, 8, 8>;

ALWAYS_INLINE void clear(thread Sums (&sums)[ALONG_M][ALONG_N]) {
    for (uint i = 0; i < ALONG_M; ++i) {
        for (uint j = 0; j < ALONG_N; ++j) {
            sums[i][j] = make_filled_simdgroup_matrix<S, 8, 8>(S(0));
        }
    }
}

// Adds the product of two tiles: a simdgroup's part from row `top` and column `left` on.
ALWAYS_INLINE void multiply(const threadgroup T* a_tile, const threadgroup T* b_tile,
                            thread Sums (&sums)[ALONG_M][ALONG_N], uint top, uint left) {
    for (uint k = 0; k < TILE_K; k += 8) {
        simdgroup_matrix<T, 8, 8> a[ALONG_M];
        simdgroup_matrix<T, 8, 8> b[ALONG_N];
        for (uint i = 0; i < ALONG_M; ++i) {
            const uint row = top + 8 * i;
            simdgroup_load(a[i], a_tile + (A_TURNED ? k * TILE_M + row : row * TILE_K + k),
                           A_TURNED ? TILE_M : TILE_K, ulong2(0), A_TURNED);
        }
        for (uint j = 0; j < ALONG_N; ++j) {
            const uint column = left + 8 * j;
            simdgroup_load(b[j], b_tile + (B_TURNED ? column * TILE_K + k : k * TILE_N + column),
                           B_TURNED ? TILE_K : TILE_N, ulong2(0), B_TURNED);
        }
        for (uint i = 0; i < ALONG_M; ++i) {
            for (uint j = 0; j < ALONG_N; ++j) {
                simdgroup_multiply_accumulate(sums[i][j], a[i], b[j], sums[i][j]);
            }
        }
    }
}

// Writes a simdgroup's sums, from (row, column) on, STAGED of them at a time through room of its
// own; directly where they need neither epilogue nor another type. The product begins at `first`.
template <typename Epilogue>
ALWAYS_INLINE void store(thread Sums (&sums)[ALONG_M][ALONG_N], device Y* y, threadgroup S* own,
                         uint m, uint n, ulong first, uint row, uint column, uint lane,
                         Epilogue epilogue) {
    if (IS_DIRECT && row + 8 * ALONG_M <= m && column + 8 * ALONG_N <= n) {
        device S* corner = reinterpret_cast<device S*>(y) + first + ulong(row) * n + column;
        for (uint i = 0; i < ALONG_M; ++i) {
            for (uint j = 0; j < ALONG_N; ++j) {
                simdgroup_store(sums[i][j], corner + 8 * i * n + 8 * j, n);
            }
        }
        return;
    }
    for (uint begin = 0; begin < ALONG_M * ALONG_N; begin += STAGED) {
        for (uint at = 0; at < STAGED; ++at) {
            const uint which = begin + at;
            simdgroup_store(sums[which / ALONG_N][which % ALONG_N], own + 64 * at, 8);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint e = lane; e < 64 * STAGED; e += 32) {
            const uint which = begin + e / 64;
            const uint r = row + which / ALONG_N * 8 + e % 64 / 8;
            const uint c = column + which % ALONG_N * 8 + e % 8;
            if (r < m && c < n) {
                const ulong at = first + ulong(r) * n + c;
                y[at] = Y(epilogue(float(own[e]), uint(at), c));
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}
