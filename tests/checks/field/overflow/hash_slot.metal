// Source: written from memory of the class: a slot of a ring by a product modulo its size
// The signed product wraps, and its remainder is negative or another slot's.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.ring_slot]
//! threads = 4
//! threadgroup = 4
//! arguments.step = { shape = 4, dtype = "int32", fill = [1, 1000, 60000, 90000] }
//! arguments.ring = { shape = 97, dtype = "int32", fill = "zeros" }
kernel void ring_slot(device const int* step, device atomic_int* ring,
                      uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const long at = long(step[i]) * 65536 % 97;
#else
    const int at = step[i] * 65536 % 97;  // BUG index-overflow
#endif
    atomic_fetch_add_explicit(&ring[at], 1, memory_order_relaxed);  // MAYBE out-of-bounds-write
}
