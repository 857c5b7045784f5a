// Source: https://github.com/JuliaGPU/Metal.jl/pull/750
// Threadgroup memory comes from the host, for one row less than the kernel uses.
#include <metal_stdlib>
using namespace metal;

//! [kernel.small_scratch]
//! threads = [32, 4]
//! threadgroup = [32, 4]
//! arguments.x = { shape = [4, 32], fill = "random" }
//! arguments.y = { shape = [4, 32], fill = "zeros" }
//! arguments.scratch = { bytes = 384 }
#ifdef FIXED
#define ROWS 3
#else
#define ROWS 4
#endif
kernel void small_scratch(device const float* x, device float* y,
                          threadgroup float* scratch [[threadgroup(0)]],
                          uint2 t [[thread_position_in_threadgroup]]) {
    if (t.y < ROWS) {
        scratch[t.y * 32 + t.x] = x[t.y * 32 + t.x];  // BUG out-of-bounds-write
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t.y * 32 + t.x] = scratch[31 - t.x];
}
