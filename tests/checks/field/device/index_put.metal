// Source: https://github.com/ml-explore/mlx/pull/4328
// An assignment scatter with duplicate indices: whichever thread is last wins.
#include <metal_stdlib>
using namespace metal;

//! [kernel.index_put]
//! threads = 128
//! threadgroup = 32
//! arguments.updates = { shape = 128, dtype = "int64", fill = "iota" }
//! arguments.indices = { shape = 128, dtype = "int32", fill = "iota" }
//! arguments.out = { shape = 64, dtype = "int64", fill = "zeros" }
kernel void index_put(device const long* updates, device const int* indices, device long* out,
                      uint i [[thread_position_in_grid]]) {
    const int to = indices[i] % 64;
#ifdef FIXED
    if (i + 64 < 128 && indices[i + 64] % 64 == to) return;
#endif
    out[to] = updates[i];  // BUG race-write-write
}
