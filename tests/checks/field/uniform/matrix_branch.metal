// Source: https://github.com/philipturner/metal-flash-attention/issues/29
// Half of the simdgroup multiplies matrices that belong to all of its lanes.
#include <metal_stdlib>
using namespace metal;

//! [kernel.matrix_branch]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = 64, fill = "ones" }
//! arguments.c = { shape = 64, fill = "zeros" }
kernel void matrix_branch(device const float* a, device float* c,
                          ushort lane [[thread_index_in_simdgroup]]) {
    simdgroup_float8x8 m, acc(0);
    simdgroup_load(m, a, 8);
#ifndef FIXED
    if (lane < 16)
#endif
        simdgroup_multiply_accumulate(acc, m, m, acc);  // BUG partial-simdgroup
    simdgroup_store(acc, c, 8);
}
