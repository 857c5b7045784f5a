// Source: https://github.com/torch/cutorch/pull/704
// Each thread compares its second element with the first one of the next thread, the last one too.
#include <metal_stdlib>
using namespace metal;

//! [kernel.pair_flags]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 64, dtype = "int32", fill = "iota" }
//! arguments.y = { shape = 64, dtype = "int32", fill = "zeros" }
kernel void pair_flags(device const int* x, device int* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup bool begins[64];
    threadgroup int sorted[64];
    sorted[2 * t] = x[2 * t];
    sorted[2 * t + 1] = x[2 * t + 1];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) begins[0] = true;
    begins[2 * t + 1] = sorted[2 * t] != sorted[2 * t + 1];
#ifdef FIXED
    if (2 * t + 2 < 64)
#endif
    begins[2 * t + 2] = sorted[2 * t + 1] != sorted[2 * t + 2];  // BUG out-of-bounds-read
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[2 * t] = begins[2 * t];
    y[2 * t + 1] = begins[2 * t + 1];
}
