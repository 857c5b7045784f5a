// Source: written from memory of the class: padded tiles of matrices, pitch 9 against bank conflicts
// One simdgroup loads the matrix that another one has stored.
#include <metal_stdlib>
using namespace metal;

//! [kernel.odd_pitch]
//! threads = 64
//! threadgroup = 64
//! arguments.a = { shape = 128, dtype = "float16", fill = "random" }
//! arguments.c = { shape = 128, dtype = "float16", fill = "zeros" }
kernel void odd_pitch(device const half* a, device half* c,
                      uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup half tile[2][8 * 9];
    simdgroup_half8x8 m;
    simdgroup_load(m, a + sg * 64, 8);
    simdgroup_store(m, tile[sg], 9);  // BUG race-read-write
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    simdgroup_load(m, tile[1 - sg], 9, ulong2(0), true);  // WITH
    simdgroup_store(m, c + sg * 64, 8);                   // MAYBE uninitialised-read
}
