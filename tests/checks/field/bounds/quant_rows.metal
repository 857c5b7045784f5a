// Source: https://github.com/huggingface/candle/pull/3880
// Stores of a simdgroup's rows do not ask whether the last rows exist.
#include <metal_stdlib>
using namespace metal;

//! [kernel.quant_rows]
//! threadgroups = 3
//! threadgroup = 32
//! arguments.blocks = { shape = 160, dtype = "uint8", fill = "iota" }
//! arguments.dst = { shape = 10, fill = "zeros" }
//! arguments.ne01 = 10
#define N_DST 4
kernel void quant_rows(device const uchar* blocks, device float* dst, constant int& ne01,
                       uint r0 [[threadgroup_position_in_grid]],
                       ushort tiisg [[thread_index_in_simdgroup]]) {
    const int first_row = r0 * N_DST;
    float sumf[N_DST] = {0.f};
    for (int row = 0; row < N_DST; row++) {
        const int safe = min(first_row + row, ne01 - 1);
        if (tiisg < 16) sumf[row] = blocks[safe * 16 + tiisg];
    }
    for (int row = 0; row < N_DST; ++row) {
        const float tot = simd_sum(sumf[row]);
#ifdef FIXED
        if (tiisg == 0 && first_row + row < ne01) dst[first_row + row] = tot;
#else
        if (tiisg == 0) dst[first_row + row] = tot;  // BUG out-of-bounds-write
#endif
    }
}
