// Source: https://github.com/ml-explore/mlx/issues/460
// The diagonal of a matrix of 50,000 rows, indexed in int.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.eye]
//! threads = 2
//! threadgroup = 2
//! arguments.y = { shape = 16, fill = "zeros" }
//! arguments.n = 50000
//! arguments.size = 16
kernel void eye(device float* y, constant int& n, constant long& size,
                uint i [[thread_position_in_grid]]) {
    const int row = int(i) * 49999;
#ifdef FIXED
    const long at = long(row) * n + row;
#else
    const long at = row * n + row;  // BUG index-overflow
#endif
    if (at >= 0 && at < size) y[at] = 1;
}
