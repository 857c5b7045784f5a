// Source: written from memory of the class: a flag that only the finder sets
// Nobody says false when nothing was found.
#include <metal_stdlib>
using namespace metal;

//! [kernel.any_nan]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, fill = "ones" }
//! arguments.flag = { shape = 1, dtype = "uint8", fill = "zeros" }
kernel void any_nan(device const float* x, device bool* flag,
                    uint t [[thread_position_in_threadgroup]]) {
    threadgroup bool found;
#ifdef FIXED
    if (t == 0) found = false;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (isnan(x[t])) found = true;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) *flag = found;  // BUG uninitialised-read
}
