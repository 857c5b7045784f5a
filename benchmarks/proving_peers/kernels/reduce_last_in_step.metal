// A sum whose last rounds are of one simdgroup, with no barrier of the threadgroup.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reduce_last_in_step]
//! threadgroup = 256
kernel void reduce_last_in_step(device const float* in, device float* out, constant uint& n,
                                uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup float part[256];
    uint i = 512 * group + t;
    float mine = i < n ? in[i] : 0;
    if (i + 256 < n) mine += in[i + 256];
    part[t] = mine;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 128; step > 32; step >>= 1) {
        if (t < step) part[t] = mine = mine + part[t + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t < 32) {
        threadgroup volatile float* last = part;
        for (uint step = 32; step > 0; step >>= 1) {
            last[t] = mine = mine + last[t + step];
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
    if (t == 0) out[group] = mine;
}
