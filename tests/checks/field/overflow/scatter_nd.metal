// Source: https://github.com/tensorflow/tensorflow/issues/127164
// Every dimension fits, but their product does not.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.scatter_nd]
//! threads = 2
//! threadgroup = 2
//! arguments.at = { shape = [2, 2], dtype = "int32", fill = [0, 5, 46341, 46340] }
//! arguments.out = { shape = 16, dtype = "int32", fill = "zeros" }
//! arguments.dims = [46342, 46341]
kernel void scatter_nd(device const int* at, device int* out, constant int2& dims,
                       uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    ulong flat = 0;
#else
    int flat = 0;
#endif
    for (int d = 0; d < 2; ++d) {
        flat = flat * dims[d] + at[i * 2 + d];  // BUG index-overflow
    }
    if (flat < 16) out[flat] = 1;  // MAYBE out-of-bounds-write|index-overflow
}
