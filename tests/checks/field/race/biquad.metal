// Source: https://github.com/ORNL/HeCBench/issues/256
// A cascade of filter sections: section t reads what t - 1 stores in the same step.
#include <metal_stdlib>
using namespace metal;

//! [kernel.biquad]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 16, fill = "random" }
//! arguments.y = { shape = 80, fill = "zeros" }
//! arguments.n = 16
kernel void biquad(device const float* x, device float* y, constant uint& n,
                   uint t [[thread_position_in_threadgroup]],
                   uint sections [[threads_per_threadgroup]]) {
    threadgroup float stage[64];
    float z = 0;
    stage[t] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 0; step < n + sections; ++step) {
        float in = 0;
        if (t > 0) {
            in = stage[t - 1];  // WITH
        } else if (step < n) {
            in = x[step];
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        z = 0.5f * in + 0.25f * z;
        stage[t] = z;  // BUG race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t == sections - 1) y[step] = z;
    }
}
