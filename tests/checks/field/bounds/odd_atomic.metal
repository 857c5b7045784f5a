// Source: written from memory of the class: an atomic in a packed record
// A counter lies behind a byte and is not aligned.
#include <metal_stdlib>
using namespace metal;

//! [kernel.odd_atomic]
//! threads = 8
//! threadgroup = 8
//! arguments.records = { bytes = 64 }
kernel void odd_atomic(device uchar* records, uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device uchar* at = records + 8 * i + 4;
#else
    device uchar* at = records + 7 * i + 1;
#endif
    atomic_fetch_add_explicit((device atomic_uint*)at, 1, memory_order_relaxed);  // BUG misaligned
}
