// Source: written from memory of the class: embedding of a padding token, -1
// The token is unsigned in the kernel, so that -1 is a row far away.
#include <metal_stdlib>
using namespace metal;

//! [kernel.padding_token]
//! threads = [8, 4]
//! threadgroup = [8, 4]
//! arguments.table = { shape = [10, 8], dtype = "bfloat16", fill = "ones" }
//! arguments.token = { shape = 4, dtype = "int32", fill = [3, 9, -1, -1] }
//! arguments.y = { shape = [4, 8], dtype = "bfloat16", fill = "zeros" }
kernel void padding_token(device const bfloat* table, device const int* token, device bfloat* y,
                          uint2 p [[thread_position_in_grid]]) {
    const int row = token[p.y];
#ifdef FIXED
    y[p.y * 8 + p.x] = row < 0 ? bfloat(0) : table[row * 8 + p.x];
#else
    y[p.y * 8 + p.x] = table[ulong(row) * 8 + p.x];  // BUG out-of-bounds-read
#endif
}
