// Source: https://github.com/ml-explore/mlx/pull/634
// An 8x8 block is loaded where only five rows are left.
#include <metal_stdlib>
using namespace metal;

//! [kernel.matrix_edge]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = [13, 8], fill = "ones" }
//! arguments.c = { shape = [16, 8], fill = "zeros" }
kernel void matrix_edge(device const float* a, device float* c,
                        uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float part[64];
    for (uint row = 0; row < 16; row += 8) {
        simdgroup_float8x8 m;
#ifdef FIXED
        for (uint i = lane; i < 64; i += 32) part[i] = row + i / 8 < 13 ? a[row * 8 + i] : 0;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_load(m, part, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
#else
        simdgroup_load(m, a + row * 8, 8);  // BUG out-of-bounds-read
#endif
        simdgroup_store(m, c + row * 8, 8);
    }
}
