// A sum in a tree: the upper half is added to the lower.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reduce_by_halves]
//! threadgroup = 256
kernel void reduce_by_halves(device const float* in, device float* out, constant uint& n,
                             uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup float part[256];
    uint i = 256 * group + t;
    part[t] = i < n ? in[i] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_of_it = 128; half_of_it > 0; half_of_it >>= 1) {
        if (t < half_of_it) part[t] += part[t + half_of_it];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) out[group] = part[0];
}
