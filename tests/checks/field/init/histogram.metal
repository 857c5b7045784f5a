// Source: written from memory of the class: bins in threadgroup memory that nobody clears
// Threadgroup memory begins with anything, and atomics add to it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram]
//! threads = 64
//! threadgroup = 64
//! arguments.v = { shape = 64, dtype = "uint8", fill = "iota" }
//! arguments.h = { shape = 8, dtype = "uint32", fill = "zeros" }
kernel void histogram(device const uchar* v, device uint* h,
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint bins[8];
#ifdef FIXED
    if (t < 8) atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    atomic_fetch_add_explicit(&bins[v[t] % 8], 1, memory_order_relaxed);  // BUG uninitialised-read
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 8) {
        h[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);  // MAYBE uninitialised-read
    }
}
