// Source: https://github.com/avpbynf/Vitrail-Shaders/pull/400
// Shared memory that was too large was moved to a buffer; the bare barrier still means threadgroup.
#include <metal_stdlib>
using namespace metal;

//! [kernel.sky_sum]
//! threads = 64
//! threadgroup = 64
//! arguments.scratch = { bytes = 1024 }
//! arguments.sky = { shape = 4, fill = "zeros" }
#ifdef FIXED
#define barrier() threadgroup_barrier(mem_flags::mem_device)
#else
#define barrier() threadgroup_barrier(mem_flags::mem_threadgroup)
#endif
kernel void sky_sum(device float4* scratch, device float* sky,
                    uint t [[thread_position_in_threadgroup]]) {
    scratch[t] = float4(t, 1, 2, 3);  // MAYBE weak-memory-flags
    for (uint k = 32; k > 0; k >>= 1) {
        barrier();
        if (t < k) {
            scratch[t] += scratch[t + k];  // BUG weak-memory-flags
        }
    }
    if (t == 0) {
        for (uint c = 0; c < 4; ++c) sky[c] = scratch[0][c];
    }
}
