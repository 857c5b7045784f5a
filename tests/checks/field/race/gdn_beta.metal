// Source: https://github.com/sgl-project/sglang/pull/37288
// Gates of a chunk are stored at the top of the loop; the last reads of the chunk before are late.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gdn_beta]
//! threads = 128
//! threadgroup = 128
//! arguments.beta = { shape = 96, dtype = "float16", fill = "random" }
//! arguments.state = { shape = 128, fill = "ones" }
//! arguments.chunks = 3
kernel void gdn_beta(device const half* beta, device float* state, constant ushort& chunks,
                     ushort t [[thread_position_in_threadgroup]]) {
    threadgroup half gate[32];
    float s = state[t];
    for (ushort c = 0; c < chunks; ++c) {
        if (t < 32) {
            gate[t] = beta[c * 32 + t];  // BUG race-read-write
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (ushort i = 0; i < 32; ++i) {
            s = fma(s, float(gate[(i + t) % 32]), 0.5f);  // WITH
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    state[t] = s;
}
