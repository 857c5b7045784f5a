// Source: written from memory of the class: a matrix loaded after some lanes have returned
// Lanes without a row return before the simdgroup stores its block.
#include <metal_stdlib>
using namespace metal;

//! [kernel.matrix_tail]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = 64, fill = "ones" }
//! arguments.c = { shape = 64, fill = "zeros" }
//! arguments.rows = 24
kernel void matrix_tail(device const float* a, device float* c, constant uint& rows,
                        uint i [[thread_position_in_grid]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, a, 8);
#ifndef FIXED
    if (i >= rows) return;
#endif
    simdgroup_store(m, c, 8);  // BUG partial-simdgroup
}
