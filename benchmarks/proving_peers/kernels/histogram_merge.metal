// Parts of a histogram become one, bin by bin.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram_merge]
//! threadgroup = 256
kernel void histogram_merge(device const uint* parts, device uint* histogram, constant uint& count,
                            uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup uint sums[256];
    uint sum = 0;
    for (uint i = t; i < count; i += 256) sum += parts[group + i * 64];
    sums[t] = sum;
    for (uint stride = 128; stride > 0; stride >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < stride) sums[t] += sums[t + stride];
    }
    if (t == 0) histogram[group] = sums[0];
}
