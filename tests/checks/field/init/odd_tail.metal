// Source: written from memory of the class: rows of odd length in pairs
// half2 stores cover an even number of elements; the last one of the tile stays as it was.
#include <metal_stdlib>
using namespace metal;

//! [kernel.odd_tail]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 63, dtype = "float16", fill = "random" }
//! arguments.y = { shape = 63, dtype = "float16", fill = "zeros" }
//! arguments.n = 63
kernel void odd_tail(device const half* x, device half* y, constant uint& n,
                     uint t [[thread_position_in_threadgroup]]) {
    threadgroup half row[64];
    if (2 * t + 1 < n) {
        row[2 * t] = x[2 * t];
        row[2 * t + 1] = x[2 * t + 1];
    }
#ifdef FIXED
    else if (2 * t < n) {
        row[2 * t] = x[2 * t];
    }
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < n; i += 32) {
        y[i] = row[n - 1 - i];  // BUG uninitialised-read
    }
}
