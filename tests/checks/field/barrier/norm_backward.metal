// Source: https://github.com/pytorch/pytorch/pull/172554
// Channels behind the last one return early in a kernel that reduces over its rows.
#include <metal_stdlib>
using namespace metal;

//! [kernel.norm_backward]
//! threadgroups = 3
//! threadgroup = [8, 8]
//! arguments.grad = { shape = [8, 20], dtype = "float16", fill = "random" }
//! arguments.sum = { shape = 20, fill = "zeros" }
//! arguments.channels = 20
kernel void norm_backward(device const half* grad, device float* sum, constant int& channels,
                          uint g [[threadgroup_position_in_grid]],
                          ushort2 t [[thread_position_in_threadgroup]]) {
    threadgroup float shared[8][8];
    const int c = g * 8 + t.x;
    float v = 0;
#ifdef FIXED
    if (c < channels) v = grad[t.y * channels + c];
#else
    if (c >= channels) return;  // MAYBE barrier-divergence
    v = grad[t.y * channels + c];
#endif
    shared[t.y][t.x] = v;
    for (ushort k = 4; k > 0; k >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        if (t.y < k) shared[t.y][t.x] += shared[t.y + k][t.x];
    }
    if (t.y == 0 && c < channels) sum[c] = shared[0][t.x];
}
