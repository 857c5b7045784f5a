// Source: https://github.com/KhronosGroup/MoltenVK/issues/973
// A barrier that was meant as a memory barrier of one thread waits for all of them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.memory_only]
//! threads = 32
//! threadgroup = 32
//! arguments.buf = { shape = 32, dtype = "uint32", fill = "zeros" }
kernel void memory_only(device uint* buf, uint idx [[thread_position_in_grid]]) {
    buf[idx] = 0;
    if (idx == 1) {
#ifdef FIXED
        buf[idx] = 2;
#else
        threadgroup_barrier(mem_flags::mem_device);  // BUG barrier-divergence
#endif
    } else {
        buf[idx] += 1;
    }
}
