// A barrier that orders no memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.barrier_without_flags]
//! threadgroup = 256
// assay: assume(groups.x == 1)
kernel void barrier_without_flags(device int* out, uint t [[thread_index_in_threadgroup]]) {
    threadgroup int shared[256];
    shared[t] = t;
    threadgroup_barrier(mem_flags::mem_none);
    out[t] = shared[255 - t];
}
