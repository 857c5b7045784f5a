// Source: https://github.com/ROCm/rocPRIM/pull/89
// Sorted keys are fetched from the memory that the histogram of the next stage begins to clear.
#include <metal_stdlib>
using namespace metal;

//! [kernel.sort_histogram]
//! threadgroups = 1
//! threadgroup = 64
//! arguments.keys = { shape = 64, dtype = "uint32", fill = "iota" }
//! arguments.counts = { shape = 8, dtype = "uint32", fill = "zeros" }
template <typename T>
T exchange(T key, uint rank, uint t, threadgroup T* shared) {
    shared[rank] = key;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return shared[t];  // WITH
}

kernel void sort_histogram(device const uint* keys, device uint* counts,
                           uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint shared[64];
    uint key = exchange(keys[t], 63 - t, t, shared);
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (t >= 32 && t < 40) shared[t - 32] = 0;  // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup atomic_uint* bins = (threadgroup atomic_uint*)shared;
    atomic_fetch_add_explicit(&bins[key % 8], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 8) counts[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
}
