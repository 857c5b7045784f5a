// All threads write one element.
#include <metal_stdlib>
using namespace metal;

//! [kernel.all_to_one_place]
//! threadgroup = 64
// assay: assume(groups.x == 1)
kernel void all_to_one_place(device int* out, uint t [[thread_index_in_threadgroup]]) {
    threadgroup int shared[16];
    shared[0] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) out[0] = shared[0];
}
