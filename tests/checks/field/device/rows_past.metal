// Source: https://github.com/huggingface/candle/issues/3863
// Each simdgroup stores four rows, also those behind the last, where the next batch begins.
#include <metal_stdlib>
using namespace metal;

//! [kernel.rows_past]
//! threadgroups = [3, 2]
//! threadgroup = 32
//! arguments.x = { shape = [32, 10], fill = "random" }
//! arguments.y = { shape = [2, 12], fill = "zeros" }
//! arguments.rows = 10
template <int NR>
void rows_impl(device const float* x, device float* y, uint rows, uint2 g, uint lane) {
    for (int r = 0; r < NR; ++r) {
        const uint row = g.x * NR + r;
        float v = simd_sum(x[lane * 10 + min(row, rows - 1)] * (g.y + 1));
#ifdef FIXED
        if (lane == 0 && row < rows) y[g.y * rows + row] = v;
#else
        if (lane == 0) y[g.y * rows + row] = v;  // BUG race-write-write
#endif
    }
}

kernel void rows_past(device const float* x, device float* y, constant uint& rows,
                      uint2 g [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    rows_impl<4>(x, y, rows, g, lane);
}
