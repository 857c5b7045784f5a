// Source: written from memory of the class: running statistics of a batch norm
// Every sample's threadgroup folds its mean into the channel's running mean.
#include <metal_stdlib>
using namespace metal;

//! [kernel.running_mean]
//! threadgroups = [4, 2]
//! threadgroup = 32
//! arguments.x = { shape = [4, 2, 32], fill = "random" }
//! arguments.running = { shape = 2, fill = "zeros" }
kernel void running_mean(device const float* x, device float* running,
                         uint2 g [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
    const float momentum = 0.1f;
    float mean = simd_sum(x[(g.x * 2 + g.y) * 32 + lane]) / 32;
#ifdef FIXED
    if (g.x != 0) return;
#endif
    if (lane == 0) {
        running[g.y] = mix(running[g.y], mean, momentum);  // BUG race-read-write|race-write-write
    }
}
