// Eight weights of row n of a matrix [params->n, params->k] from column k on; 0 beyond it.
template <typename Policy>
ALWAYS_INLINE void decode_word(const device uchar* matrix, const device uchar* scales,
                               constant Params* params, uint n, uint k, thread float* w) {
    for (uint i = 0; i < 8; ++i) {
        w[i] = 0;
    }
    if (n < params->n && k < params->k) {
        Policy::load8(matrix, scales, params->n, params->k, n, k, w);
    }
}

// A thread's share of a tile of weights, words of eight along k, by COUNT threads: the tile is
// [TILE_K][TILE_N].
template <typename Policy, uint COUNT>
ALWAYS_INLINE void decode_tile(const device uchar* matrix, const device uchar* scales,
                               constant Params* params, threadgroup T* tile, uint column, uint k,
                               uint thread_index) {
    for (uint word = thread_index; word < TILE_K / 8 * TILE_N; word += COUNT) {
        const uint n = word % TILE_N;
        const uint down = word / TILE_N * 8;
        float w[8];
        decode_word<Policy>(matrix, scales, params, column + n, k + down, w);
        for (uint i = 0; i < 8; ++i) {
            tile[(down + i) * TILE_N + n] = T(w[i]);
        }
    }
}
