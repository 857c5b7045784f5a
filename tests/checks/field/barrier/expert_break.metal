// Source: https://github.com/1bit-MONSTER/1bit-MONSTER/issues/1262
// Threads whose expert is skipped go on with the next one, past the barriers of this one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.expert_break]
//! threads = 128
//! threadgroup = 128
//! arguments.expert = { shape = 128, dtype = "int32", fill = 0 }
//! arguments.x = { shape = 128, fill = "random" }
//! arguments.y = { shape = 128, fill = "zeros" }
kernel void expert_break(device const int* expert, device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
    threadgroup float tile[128];
    float acc = 0;
    for (int k = 0; k < 2; ++k) {
        const int e = expert[t] + int(t / 64) - k;
#ifdef FIXED
        const bool valid = e >= 0;
#else
        if (e < 0) continue;
        const bool valid = true;
#endif
        tile[t] = x[t] * k;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        if (valid) acc += tile[(t + 1) % 128];
        threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
    }
    y[t] = acc;
}
