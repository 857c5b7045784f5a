// Source: written from memory of the class: an atomic counter that is read plainly
// Tiles are claimed with an atomic, but threads decide by a plain load whether any is left.
#include <metal_stdlib>
using namespace metal;

//! [kernel.claim]
//! threads = 64
//! threadgroup = 32
//! arguments.next = { shape = 1, dtype = "uint32", fill = "zeros" }
//! arguments.done = { shape = 40, dtype = "uint32", fill = "zeros" }
kernel void claim(device uint* next, device atomic_uint* done) {
    device atomic_uint* cell = (device atomic_uint*)next;
#ifndef FIXED
    if (*next >= 40) return;  // BUG race-read-write
#endif
    const uint mine = atomic_fetch_add_explicit(cell, 1, memory_order_relaxed);  // WITH
    if (mine < 40) atomic_fetch_or_explicit(&done[mine], 1, memory_order_relaxed);
}
