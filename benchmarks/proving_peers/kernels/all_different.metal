// Each thread counts at its own place, with barriers between.
#include <metal_stdlib>
using namespace metal;

//! [kernel.all_different]
//! threadgroup = 64
kernel void all_different(device int* out, uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]]) {
    threadgroup int own[128];
    own[t] = t;
    for (int turn = 0; turn < 100000; ++turn) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        own[t] += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = own[t];
}
