// Source: https://github.com/flagos-ai/FlagGems/pull/4156
// The offset of a row is computed in int; it is negative for late rows, and so below the limit.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.row_offset]
//! threads = 4
//! threadgroup = 4
//! arguments.index = { shape = 4, dtype = "int32", fill = [0, 1, 16384, 20000] }
//! arguments.y = { shape = 4, dtype = "uint8", fill = "zeros" }
//! arguments.stride = 131072
//! arguments.n = 262144
kernel void row_offset(device const int* index, device uchar* y, constant int& stride,
                       constant int& n, uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const long offset = long(index[i]) * stride;
#else
    const int offset = index[i] * stride;  // BUG index-overflow
#endif
    if (offset < n) {
        y[offset >> 16] = 1;  // MAYBE out-of-bounds-write
    }
}
