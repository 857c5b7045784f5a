// Source: written from memory of the class: a spin lock that lanes of one simdgroup contend for
// The lanes that wait keep the one that holds the lock from giving it back.
#include <metal_stdlib>
using namespace metal;

//! [kernel.spin_lock]
//! threads = 32
//! threadgroup = 32
//! arguments.lock = { shape = 1, dtype = "uint32", fill = "zeros" }
//! arguments.sum = { shape = 1, dtype = "uint32", fill = "zeros" }
kernel void spin_lock(device atomic_uint* lock, device atomic_uint* sum,
                      uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    atomic_fetch_add_explicit(sum, i, memory_order_relaxed);
#else
    while (atomic_exchange_explicit(lock, 1u, memory_order_relaxed) == 1u) {  // BUG runaway
    }
    const uint old = atomic_load_explicit(sum, memory_order_relaxed);
    atomic_store_explicit(sum, old + i, memory_order_relaxed);
    atomic_store_explicit(lock, 0u, memory_order_relaxed);
#endif
}
