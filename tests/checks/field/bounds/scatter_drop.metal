// Source: https://github.com/tillahoffmann/jax-mps/issues/240
// Indices outside are to be dropped, but only the flat offset is compared with anything.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scatter_drop]
//! threads = [4, 3]
//! threadgroup = [4, 3]
//! arguments.update = { shape = [3, 4], fill = "ones" }
//! arguments.row = { shape = 3, dtype = "int32", fill = [2, 10, -1] }
//! arguments.out = { shape = [10, 4], fill = "zeros" }
kernel void scatter_drop(device const float* update, constant int* row, device float* out,
                         uint2 p [[thread_position_in_grid]]) {
    const int r = row[p.y];
#ifdef FIXED
    if (r < 0 || r >= 10) return;
#else
    if (r > 10) return;
#endif
    out[r * 4 + int(p.x)] = update[p.y * 4 + p.x];  // BUG out-of-bounds-write
}
