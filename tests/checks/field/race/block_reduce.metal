// Source: https://github.com/kokkos/kokkos/pull/4855
// The result of one reduction is fetched while the next one begins in the same scratch memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.block_reduce]
//! threads = 128
//! threadgroup = 128
//! arguments.x = { shape = 128, fill = "random" }
//! arguments.stats = { shape = 2, fill = "zeros" }
struct Plus { static float join(float a, float b) { return a + b; } };
struct Most { static float join(float a, float b) { return max(a, b); } };

template <typename Op>
float reduce(float v, threadgroup float* scratch, uint t) {
    scratch[t] = v;  // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 64; k > 0; k >>= 1) {
        if (t < k) scratch[t] = Op::join(scratch[t], scratch[t + k]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    v = scratch[0];  // WITH
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    return v;
}

kernel void block_reduce(device const float* x, device float* stats,
                         uint t [[thread_position_in_threadgroup]]) {
    threadgroup float scratch[128];
    float total = reduce<Plus>(x[t], scratch, t);
    float most = reduce<Most>(fabs(x[t]), scratch, t);
    if (t == 0) {
        stats[0] = total;
        stats[1] = most;
    }
}
