// Source: written from memory of the class: stream compaction with a counter in shared memory
// The counter is set back for the next round by a plain store next to the atomics of others.
#include <metal_stdlib>
using namespace metal;

//! [kernel.compact]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 192, dtype = "int32", fill = "iota" }
//! arguments.kept = { shape = 3, dtype = "uint32", fill = "zeros" }
kernel void compact(device const int* x, device uint* kept,
                    uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint found;
    for (uint round = 0; round < 3; ++round) {
        if (t == 63) {
            atomic_store_explicit(&found, 0, memory_order_relaxed);  // WITH
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (x[round * 64 + t] % 3 == 0) {
            atomic_fetch_add_explicit(&found, 1, memory_order_relaxed);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint total = *reinterpret_cast<threadgroup uint*>(&found);  // BUG race-read-write
        if (t == 0) kept[round] = total;
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
}
