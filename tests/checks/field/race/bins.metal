// Source: written from memory of the class: histograms in shared memory without atomics
// Threads of several simdgroups increment the same bin by load and store.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bins]
//! threads = 128
//! threadgroup = 128
//! arguments.grey = { shape = 128, dtype = "uint8", fill = "iota" }
//! arguments.histogram = { shape = 16, dtype = "uint32", fill = "zeros" }
kernel void bins(device const uchar* grey, device uint* histogram,
                 uint t [[thread_position_in_threadgroup]]) {
    threadgroup uint local[16];
    if (t < 16) local[t] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
    threadgroup atomic_uint* bin = reinterpret_cast<threadgroup atomic_uint*>(&local[grey[t] & 15]);
    atomic_fetch_add_explicit(bin, 1, memory_order_relaxed);
#else
    local[grey[t] & 15]++;  // BUG race-read-write|race-write-write
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 16) histogram[t] = local[t];
}
