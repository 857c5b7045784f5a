// Source: https://github.com/huggingface/candle/issues/2570
// Columns of the padding are compared as if they were data.
#include <metal_stdlib>
using namespace metal;

//! [kernel.argsort_pad]
//! threads = 16
//! threadgroup = 16
//! arguments.x = { shape = 11, fill = "random" }
//! arguments.dst = { shape = 11, dtype = "uint32", fill = "zeros" }
//! arguments.ncols = 11
kernel void argsort_pad(device const float* x, device uint* dst, constant uint& ncols,
                        uint col [[thread_position_in_threadgroup]]) {
    threadgroup uint idx[16];
    idx[col] = col;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 2; k <= 16; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            const uint ixj = col ^ j;
            if (ixj > col) {
                const uint a = idx[col], b = idx[ixj];
                const bool up = (col & k) == 0;
#ifdef FIXED
                bool more = a >= ncols || (b < ncols && x[a] > x[b]);
                bool less = b >= ncols || (a < ncols && x[a] < x[b]);
#else
                bool more = x[a] > x[b];  // BUG out-of-bounds-read
                bool less = x[a] < x[b];
#endif
                if (up ? more : less) {
                    idx[col] = b;
                    idx[ixj] = a;
                }
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
    if (col < ncols) dst[col] = idx[col];
}
