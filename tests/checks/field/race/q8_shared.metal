// Source: https://github.com/ggml-org/llama.cpp/pull/28358
// Quantised words and their scales lie side by side; the padding of one part covers the other.
#include <metal_stdlib>
using namespace metal;

//! [kernel.q8_shared]
//! threads = 64
//! threadgroup = 64
//! arguments.q = { shape = 16, fill = "random" }
//! arguments.packed = { shape = 18, dtype = "int32", fill = "zeros" }
kernel void q8_shared(device const float4* q, device int* packed,
                      uint t [[thread_position_in_threadgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    threadgroup int store[48];
    threadgroup int* words = store;
    threadgroup int* scales = store + 16;
    float4 v = lane < 16 ? q[lane] : float4(0);
    float top = simd_max(max(max(fabs(v.x), fabs(v.y)), max(fabs(v.z), fabs(v.w))));
    if (sg == 0) {
        uchar4 b = uchar4(round(v / max(top, 1e-6f) * 127.0f) + 128.0f);
#ifdef FIXED
        if (lane < 16) words[lane] = as_type<int>(b);
#else
        words[lane] = as_type<int>(b);  // BUG race-write-write
#endif
    } else if (lane < 2) {
        scales[lane] = as_type<int>(top);  // WITH
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 18) packed[t] = store[t];
}
