// Source: https://github.com/mlx-node/mlx-node/pull/29
// Rows of a threadgroup behind the last column leave; the others load a chunk together.
#include <metal_stdlib>
using namespace metal;

//! [kernel.value_columns]
//! threads = [32, 8]
//! threadgroup = [32, 4]
//! arguments.k = { shape = 32, fill = "random" }
//! arguments.y = { shape = [6, 32], fill = "zeros" }
//! arguments.Dv = 6
kernel void value_columns(device const float* k, device float* y, constant int& Dv,
                          uint2 p [[thread_position_in_grid]],
                          uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float chunk[32];
    const int v_idx = int(p.y);
#ifndef FIXED
    if (v_idx >= Dv) return;  // MAYBE barrier-divergence
#endif
    if (t.y == 0) chunk[t.x] = k[t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
    if (v_idx < Dv) y[v_idx * 32 + t.x] = chunk[31 - t.x] * v_idx;
}
