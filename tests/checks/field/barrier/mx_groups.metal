// Source: https://github.com/pytorch/FBGEMM/pull/5857
// Trailing groups of the last block have no elements and return before the exponents are joined.
#include <metal_stdlib>
using namespace metal;

//! [kernel.mx_groups]
//! threadgroups = 2
//! threadgroup = [16, 4]
//! arguments.x = { shape = 96, fill = "random" }
//! arguments.e = { shape = 8, dtype = "int32", fill = "zeros" }
//! arguments.total = 96
kernel void mx_groups(device const float* x, device int* e, constant uint& total,
                      uint block [[threadgroup_position_in_grid]],
                      uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup int top[4][16];
    const uint linear = (block * 4 + t.y) * 16 + t.x;
#ifdef FIXED
    const bool active = linear < total;
#else
    if (linear >= total) return;  // MAYBE barrier-divergence
    const bool active = true;
#endif
    top[t.y][t.x] = active ? ilogb(x[linear] + 1) : 0;
    for (uint k = 8; k > 0; k /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        if (t.x < k) top[t.y][t.x] = max(top[t.y][t.x], top[t.y][t.x + k]);
    }
    if (t.x == 0) e[block * 4 + t.y] = top[t.y][0];
}
