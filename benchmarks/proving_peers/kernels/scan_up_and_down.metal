// Running sums, up a tree and down again.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan_up_and_down]
//! threadgroup = 128
// assay: assume(groups.x == 1)
kernel void scan_up_and_down(device const float* in, device float* out, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float sums[256];
    uint offset = 1;
    sums[2 * t] = in[2 * t];
    sums[2 * t + 1] = in[2 * t + 1];
    for (uint pairs = 128; pairs > 0; pairs >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < pairs) {
            uint left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            sums[right] += sums[left];
        }
        offset *= 2;
    }
    if (t == 0) sums[255] = 0;
    for (uint pairs = 1; pairs < 256; pairs *= 2) {
        offset >>= 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < pairs) {
            uint left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            float kept = sums[left];
            sums[left] = sums[right];
            sums[right] += kept;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[2 * t] = sums[2 * t];
    out[2 * t + 1] = sums[2 * t + 1];
}
