// A sum in a tree: threads whose index is a multiple go on.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reduce_by_remainder]
//! threadgroup = 256
kernel void reduce_by_remainder(device const float* in, device float* out, constant uint& n,
                                uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup float part[256];
    uint i = 256 * group + t;
    part[t] = i < n ? in[i] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0) part[t] += part[t + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) out[group] = part[0];
}
