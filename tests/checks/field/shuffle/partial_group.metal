// Source: https://github.com/pytorch/FBGEMM/pull/5857
// A threadgroup of 48 threads: the second simdgroup has no lanes 16 to 31.
#include <metal_stdlib>
using namespace metal;

//! [kernel.partial_group]
//! threads = 48
//! threadgroup = 48
//! arguments.x = { shape = 48, fill = "random" }
//! arguments.y = { shape = 2, fill = "zeros" }
kernel void partial_group(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]]) {
    float v = x[t];
#ifdef FIXED
    v = simd_max(v);
#else
    for (ushort mask = 16; mask > 0; mask >>= 1) {
        v = max(v, simd_shuffle_xor(v, mask));  // BUG inactive-lane-read
    }
#endif
    if (t % 32 == 0) y[sg] = v;
}
