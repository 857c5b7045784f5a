// A thread's share of a tile of weights, [TILE_K][TILE_N], by COUNT threads: their words lie in
// threadgroup memory, [TILE_K / 8][TILE_N].
template <typename Policy, uint COUNT>
ALWAYS_INLINE void decode_words(const threadgroup uint* words, const device uchar* scales,
                                constant Params* params, threadgroup T* tile, uint column, uint k,
                                uint thread_index) {
    for (uint word = thread_index; word < TILE_K / 8 * TILE_N; word += COUNT) {
        const uint n = column + word % TILE_N;
        const uint down = word / TILE_N * 8;
        float w[8];
        for (uint i = 0; i < 8; ++i) {
            w[i] = 0;
        }
        if (n < params->n && k + down < params->k) {
            Policy::decode8(words[word], scales, params->n, params->k, n, k + down, w);
        }
        for (uint i = 0; i < 8; ++i) {
            tile[(down + i) * TILE_N + word % TILE_N] = T(w[i]);
        }
    }
}
