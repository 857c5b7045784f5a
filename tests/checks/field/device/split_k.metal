// Source: https://github.com/ml-explore/mlx/pull/3912
// Slices of k are accumulated straight into the output by several threadgroups.
#include <metal_stdlib>
using namespace metal;

//! [kernel.split_k]
//! threadgroups = [1, 1, 3]
//! threadgroup = [8, 8]
//! arguments.a = { shape = [8, 24], dtype = "bfloat16", fill = "ones" }
//! arguments.b = { shape = [24, 8], dtype = "bfloat16", fill = "ones" }
//! arguments.c = { shape = [3, 8, 8], dtype = "float32", fill = "zeros" }
kernel void split_k(device const bfloat* a, device const bfloat* b, device float* c,
                    uint3 g [[threadgroup_position_in_grid]],
                    uint2 t [[thread_position_in_threadgroup]]) {
    float acc = 0;
    for (uint k = g.z * 8; k < g.z * 8 + 8; ++k) {
        acc += float(a[t.y * 24 + k]) * float(b[k * 8 + t.x]);
    }
#ifdef FIXED
    c += g.z * 64;
#endif
    c[t.y * 8 + t.x] += acc;  // BUG race-read-write|race-write-write
}
