// Source: written from memory of the class: a row that a thread keeps for itself, whose halo has no first value
// Only the inner elements are set. The row is so long that it stays in memory, though all places are known.
#include <metal_stdlib>
using namespace metal;

//! [kernel.wide_row]
//! threads = 4
//! threadgroup = 4
//! arguments.x = { shape = [4, 300], fill = "random" }
//! arguments.y = { shape = [4] }
kernel void wide_row(device const float* x, device float* y,
                     uint i [[thread_position_in_grid]]) {
    float row[302];
#ifdef FIXED
    row[0] = row[301] = 0;
#endif
    row[1] = x[i * 300];
    row[300] = x[i * 300 + 299];
    y[i] = row[0] < row[1] ? row[300] + 1 : row[300];  // BUG uninitialised-read
}
