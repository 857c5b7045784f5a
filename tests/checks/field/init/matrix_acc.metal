// Source: https://github.com/tinygrad/tinygrad/pull/10971
// The accumulator of a matrix product is declared but never filled with zeros.
#include <metal_stdlib>
using namespace metal;

//! [kernel.matrix_acc]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = [8, 16], dtype = "float16", fill = "ones" }
//! arguments.b = { shape = [16, 8], dtype = "float16", fill = "ones" }
//! arguments.c = { shape = [8, 8], dtype = "float32", fill = "zeros" }
kernel void matrix_acc(device const half* a, device const half* b, device float* c) {
    simdgroup_half8x8 ma, mb;
#ifdef FIXED
    simdgroup_float8x8 acc(0);
#else
    simdgroup_float8x8 acc;
#endif
    for (uint k = 0; k < 16; k += 8) {
        simdgroup_load(ma, a + k, 16);
        simdgroup_load(mb, b + k * 8, 8);
        simdgroup_multiply_accumulate(acc, ma, mb, acc);
    }
    simdgroup_store(acc, c, 8);  // BUG uninitialised-read
}
