// Source: written from memory of the class: histogram of a range whose end is included
// The largest value falls into a bin behind the last one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.last_bin]
//! threads = 33
//! threadgroup = 33
//! arguments.x = { shape = 33, fill = "iota" }
//! arguments.bins = { shape = 8, dtype = "uint32", fill = "zeros" }
//! arguments.range = [0, 32]
kernel void last_bin(device const float* x, device atomic_uint* bins, constant float2& range,
                     uint i [[thread_position_in_grid]]) {
    const float where = (x[i] - range.x) / (range.y - range.x) * 8;
#ifdef FIXED
    const uint bin = min(uint(where), 7u);
#else
    const uint bin = uint(where);
#endif
    atomic_fetch_add_explicit(bins + bin, 1u, memory_order_relaxed);  // BUG out-of-bounds-write
}
