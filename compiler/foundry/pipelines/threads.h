// Sums of one thread. Its rows are THREAD_ROWS apart, its columns THREAD_COLUMNS: neighbours read
// neighbours.
using Sums = S;

ALWAYS_INLINE void clear(thread Sums (&sums)[ALONG_M][ALONG_N]) {
    for (uint i = 0; i < ALONG_M; ++i) {
        for (uint j = 0; j < ALONG_N; ++j) {
            sums[i][j] = S(0);
        }
    }
}

// Adds the product of two tiles for the thread at (top, left).
ALWAYS_INLINE void multiply(const threadgroup T* a_tile, const threadgroup T* b_tile,
                            thread Sums (&sums)[ALONG_M][ALONG_N], uint top, uint left) {
    for (uint k = 0; k < TILE_K; ++k) {
        S a[ALONG_M];
        S b[ALONG_N];
        for (uint i = 0; i < ALONG_M; ++i) {
            const uint row = top + THREAD_ROWS * i;
            a[i] = S(a_tile[A_TURNED ? k * TILE_M + row : row * TILE_K + k]);
        }
        for (uint j = 0; j < ALONG_N; ++j) {
            const uint column = left + THREAD_COLUMNS * j;
            b[j] = S(b_tile[B_TURNED ? column * TILE_K + k : k * TILE_N + column]);
        }
        for (uint i = 0; i < ALONG_M; ++i) {
            for (uint j = 0; j < ALONG_N; ++j) {
                sums[i][j] += a[i] * b[j];
            }
        }
    }
}

template <typename Epilogue>
ALWAYS_INLINE void store(thread Sums (&sums)[ALONG_M][ALONG_N], device Y* y, uint m, uint n,
                         ulong first, uint row, uint column, Epilogue epilogue) {
    for (uint i = 0; i < ALONG_M; ++i) {
        for (uint j = 0; j < ALONG_N; ++j) {
            const uint r = row + THREAD_ROWS * i;
            const uint c = column + THREAD_COLUMNS * j;
            if (r < m && c < n) {
                const ulong at = first + ulong(r) * n + c;
                y[at] = Y(epilogue(float(sums[i][j]), uint(at), c));
            }
        }
    }
}
