// Source: https://github.com/trymirai/uzu/issues/523
// A barrier of the simdgroup stands where the whole threadgroup has to wait.
#include <metal_stdlib>
using namespace metal;

//! [kernel.router_scores]
//! threadgroups = 2
//! threadgroup = [32, 4]
//! arguments.x = { shape = [2, 128], dtype = "float16", fill = "random" }
//! arguments.scores = { shape = [2, 128], fill = "zeros" }
kernel void router_scores(device const half* x, device float* scores,
                          uint group [[threadgroup_position_in_grid]],
                          uint t [[thread_index_in_threadgroup]]) {
    threadgroup float cache[128];
    cache[t] = x[group * 128 + t];  // BUG race-read-write
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#else
    simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
    float s = 0;
    for (uint i = 0; i < 128; ++i) {
        s += cache[i] * cache[(i + t) % 128];  // WITH
    }
    scores[group * 128 + t] = s;  // MAYBE uninitialised-read
}
