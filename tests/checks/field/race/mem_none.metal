// Source: https://github.com/ml-explore/mlx-lm/pull/1719
// The barrier between store and load is there, but with mem_none it publishes no memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.js_row]
//! threads = 256
//! threadgroup = 128
//! arguments.p = { shape = 256, dtype = "bfloat16", fill = "ones" }
//! arguments.out = { shape = 2, fill = "zeros" }
#ifdef FIXED
#define PUBLISH mem_flags::mem_threadgroup
#else
#define PUBLISH mem_flags::mem_none
#endif
kernel void js_row(device const bfloat* p, device float* out, uint i [[thread_position_in_grid]],
                   uint group [[threadgroup_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float part[4];
    float s = simd_sum(float(p[i]));
    if (lane == 0) part[sg] = s;  // WITH
    threadgroup_barrier(PUBLISH);
    if (sg == 0 && lane == 0) {
        out[group] = part[0] + part[1] + part[2] + part[3];  // BUG weak-memory-flags
    }
}
