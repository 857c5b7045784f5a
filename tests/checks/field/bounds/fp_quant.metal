// Source: https://github.com/ml-explore/mlx/pull/3912
// The mask of the loader compares the row with the limit of columns.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fp_quant]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.w = { shape = [5, 8], dtype = "uint8", fill = "iota" }
//! arguments.y = { shape = [8, 8], fill = "zeros" }
//! arguments.valid = [8, 5]
kernel void fp_quant(device const uchar* w, device float* y, constant short2& valid,
                     ushort2 t [[thread_position_in_threadgroup]]) {
    threadgroup float tile[8][8];
#ifdef FIXED
    const bool inside = t.y < valid.y;
#else
    const bool inside = t.y < valid.x;
#endif
    tile[t.y][t.x] = 0;
    if (inside) {
        tile[t.y][t.x] = w[t.y * 8 + t.x] / 16.0f;  // BUG out-of-bounds-read
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t.y * 8 + t.x] = tile[t.x][t.y];
}
