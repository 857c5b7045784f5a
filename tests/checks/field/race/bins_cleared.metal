// Source: written from memory of the class: counters cleared by one thread, counted by all
// The first simdgroup clears the bins while others count already.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bins_cleared]
//! threads = 256
//! threadgroup = 128
//! arguments.keys = { shape = 256, dtype = "uint32", fill = "iota" }
//! arguments.counts = { shape = 64, dtype = "uint32", fill = "zeros" }
kernel void bins_cleared(device const uint* keys, device uint* counts,
                         uint i [[thread_position_in_grid]],
                         uint t [[thread_index_in_threadgroup]],
                         uint group [[threadgroup_position_in_grid]]) {
    threadgroup atomic_uint bin[32];
    if (t < 32) {
        atomic_store_explicit(&bin[t], 0, memory_order_relaxed);  // WITH
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    atomic_fetch_add_explicit(&bin[keys[i] & 31], 1, memory_order_relaxed);  // BUG race-read-write|race-write-write|uninitialised-read
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 32) {
        counts[group * 32 + t] = atomic_load_explicit(&bin[t], memory_order_relaxed);
    }
}
