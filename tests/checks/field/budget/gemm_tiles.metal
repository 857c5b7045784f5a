// Source: https://github.com/tile-ai/tilelang/pull/2797
// Two whole panels of a product are kept in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gemm_tiles]
//! threads = 128
//! threadgroup = 128
//! arguments.a = { shape = 128, dtype = "float16", fill = "ones" }
//! arguments.y = { shape = 128, fill = "zeros" }
#ifdef FIXED
#define PANEL 128
#else
#define PANEL 512
#endif
kernel void gemm_tiles(device const half* a, device float* y,  // BUG threadgroup-memory
                       uint t [[thread_position_in_threadgroup]]) {
    threadgroup half as[64 * PANEL];  // MAYBE threadgroup-memory
    threadgroup half bs[32 * PANEL];  // MAYBE threadgroup-memory
    as[t] = a[t];
    bs[t] = as[t] + a[t];
    y[t] = bs[t] * as[t];
}
