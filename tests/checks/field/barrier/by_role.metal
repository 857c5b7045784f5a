// Source: written from memory of the class: producers and consumers in a switch
// Two roles wait at two different barriers and take them for one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.by_role]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
kernel void by_role(device const float* x, device float* y,
                    uint lane [[thread_index_in_simdgroup]],
                    uint role [[simdgroup_index_in_threadgroup]]) {
    threadgroup float box[32];
    switch (role) {
        case 0:
            box[lane] = x[lane];
#ifndef FIXED
            threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
#endif
            break;
        default:
#ifndef FIXED
            threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
            y[lane] = box[31 - lane];
#endif
            break;
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (role == 1) y[lane] = box[31 - lane];
#endif
}
