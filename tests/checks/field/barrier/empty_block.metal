// Source: https://github.com/ComputationalRadiationPhysics/picongpu/pull/359
// A virtual block without particles is skipped, with the barrier of its first thread's load.
#include <metal_stdlib>
using namespace metal;

//! [kernel.empty_block]
//! threads = [32, 3]
//! threadgroup = [32, 3]
//! arguments.frames = { shape = 3, dtype = "uint32", fill = [1, 0, 2] }
//! arguments.current = { shape = 96, fill = "zeros" }
kernel void empty_block(constant uint* frames, device float* current,
                        uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup uint frame[3];
    uint left = frames[t.y];
    if (t.x == 0) frame[t.y] = left;
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (left > 0) current[t.y * 32 + t.x] = frame[t.y];
#else
    if (left > 0) {
        threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
        current[t.y * 32 + t.x] = frame[t.y];
    }
#endif
}
