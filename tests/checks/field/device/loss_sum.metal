// Source: https://github.com/ml-explore/mlx-lm/issues/1700
// All rows add their loss to one number; only rows of one simdgroup are ordered.
#include <metal_stdlib>
using namespace metal;

//! [kernel.loss_sum]
//! threads = 512
//! threadgroup = 128
//! arguments.row_loss = { shape = 512, fill = "ones" }
//! arguments.loss = { shape = 1, fill = "zeros" }
kernel void loss_sum(device const float* row_loss, device float* loss,
                     uint i [[thread_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    float s = simd_sum(row_loss[i]);
    if (lane == 0) {
#ifdef FIXED
        atomic_fetch_add_explicit((device atomic<float>*)loss, s, memory_order_relaxed);
#else
        loss[0] += s;  // BUG race-read-write|race-write-write
#endif
    }
}
