// Source: written from memory of the class: a turn of a tiled loop that some threads skip
// Simdgroups without a row in the last turn go on to the next one past the barriers.
#include <metal_stdlib>
using namespace metal;

//! [kernel.skipped_row]
//! threadgroups = 1
//! threadgroup = 128
//! arguments.x = { shape = [6, 32], fill = "random" }
//! arguments.y = { shape = 6, fill = "zeros" }
//! arguments.rows = 6
kernel void skipped_row(device const float* x, device float* y, constant uint& rows,
                        uint lane [[thread_index_in_simdgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float sums[4];
    for (uint first = 0; first < rows; first += 4) {
        const uint row = first + sg;
#ifdef FIXED
        float v = row < rows ? simd_sum(x[row * 32 + lane]) : 0;
#else
        if (row >= rows) continue;
        float v = simd_sum(x[row * 32 + lane]);
#endif
        if (lane == 0) sums[sg] = v;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        if (lane == 0 && row < rows) y[row] = sums[sg] / 32;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
    }
}
