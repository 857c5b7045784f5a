// Source: https://github.com/thu-ml/SageAttention/pull/376
// Keys behind the sequence's end are not loaded, and weighted with zero: 0 * NaN is NaN.
#include <metal_stdlib>
using namespace metal;

//! [kernel.kv_fill]
//! threadgroups = 1
//! threadgroup = 64
//! arguments.p = { shape = 16, fill = "random" }
//! arguments.v = { shape = [9, 64], fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
//! arguments.length = 9
kernel void kv_fill(device const float* p, device const float* v, device float* y,
                    constant uint& length, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float tile[16][64];
    threadgroup float weight[16];
    for (uint k = 0; k < 16; ++k) {
        if (k < length) tile[k][t] = v[k * 64 + t];
#ifdef FIXED
        else tile[k][t] = 0;
#endif
    }
    if (t < 16) weight[t] = t < length ? p[t] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint k = 0; k < 16; ++k) sum += weight[k] * tile[k][t];
    y[t] = sum;  // BUG uninitialised-read
}
