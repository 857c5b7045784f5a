// Source: written from memory of the class: a helper with a barrier behind &&
// The helper is not called by threads for which the left side is false.
#include <metal_stdlib>
using namespace metal;

//! [kernel.short_circuit]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, fill = "iota" }
//! arguments.y = { shape = 64, dtype = "uint8", fill = "zeros" }
bool any_above(float v, float limit, threadgroup atomic_uint* votes, uint t) {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
    if (v > limit) atomic_fetch_add_explicit(votes, 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);  // MAYBE barrier-divergence
    return atomic_load_explicit(votes, memory_order_relaxed) > 0;
}

kernel void short_circuit(device const float* x, device uchar* y,
                          uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint votes;
    if (t == 0) atomic_store_explicit(&votes, 0, memory_order_relaxed);
#ifdef FIXED
    const bool above = any_above(x[t], 60, &votes, t);
    y[t] = x[t] > 3 && above;
#else
    y[t] = x[t] > 3 && any_above(x[t], 60, &votes, t);
#endif
}
