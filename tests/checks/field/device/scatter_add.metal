// Source: https://github.com/hpcgarage/spatter/issues/178
// Several sources name the same row, and their sums are stored without atomics.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scatter_add]
//! threads = 256
//! threadgroup = 64
//! arguments.src = { shape = 256, fill = "ones" }
//! arguments.index = { shape = 256, dtype = "int64", fill = "iota" }
//! arguments.out = { shape = 16, fill = "zeros" }
kernel void scatter_add(device const float* src, device const long* index, device float* out,
                        uint i [[thread_position_in_grid]]) {
    const long row = index[i] * 7 % 16;
#ifdef FIXED
    atomic_fetch_add_explicit((device atomic_float*)&out[row], src[i], memory_order_relaxed);
#else
    out[row] += src[i];  // BUG race-read-write|race-write-write
#endif
}
