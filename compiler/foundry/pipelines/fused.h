// The same with weights that each simdgroup decodes for itself, 8x8 at a time: its first eight
// lanes read a word each. `column` is that of the simdgroup's part in the whole product.
template <typename Policy>
ALWAYS_INLINE void multiply_decoded(const threadgroup T* a_tile, const device uchar* matrix,
                                    const device uchar* scales, constant Params* params,
                                    threadgroup T* own, thread Sums (&sums)[ALONG_M][ALONG_N],
                                    uint top, uint column, uint first_k, uint lane) {
    for (uint k = 0; k < TILE_K; k += 8) {
        simdgroup_matrix<T, 8, 8> a[ALONG_M];
        for (uint i = 0; i < ALONG_M; ++i) {
            simdgroup_load(a[i], a_tile + (top + 8 * i) * TILE_K + k, TILE_K);
        }
        for (uint j = 0; j < ALONG_N; ++j) {
            if (lane < 8) {
                float w[8];
                decode_word<Policy>(matrix, scales, params, column + 8 * j + lane, first_k + k, w);
                for (uint i = 0; i < 8; ++i) {
                    own[8 * i + lane] = T(w[i]);
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            simdgroup_matrix<T, 8, 8> b;
            simdgroup_load(b, own, 8);
            // All lanes have read before the next 8x8 is written.
            simdgroup_barrier(mem_flags::mem_threadgroup);
            for (uint i = 0; i < ALONG_M; ++i) {
                simdgroup_multiply_accumulate(sums[i][j], a[i], b, sums[i][j]);
            }
        }
    }
}
