// A sum in a tree: the first threads go on, at places further and further apart.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reduce_by_stride]
//! threadgroup = 256
kernel void reduce_by_stride(device const float* in, device float* out, constant uint& n,
                             uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup float part[256];
    uint i = 256 * group + t;
    part[t] = i < n ? in[i] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < 256; step *= 2) {
        uint at = 2 * step * t;
        if (at < 256) part[at] += part[at + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) out[group] = part[0];
}
