// Source: https://github.com/NVIDIA/cudf/pull/23897
// Threads set their own bit of a word that they share with others.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bit_pack]
//! threads = 256
//! threadgroup = 64
//! arguments.valid = { shape = 256, dtype = "uint8", fill = 1 }
//! arguments.mask = { shape = 8, dtype = "uint32", fill = "zeros" }
kernel void bit_pack(device const bool* valid, device uint* mask,
                     uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
    const uint word = i % 8, bit = i / 8;
    if (!valid[i]) return;
#ifdef FIXED
    atomic_fetch_or_explicit((device atomic_uint*)&mask[word], 1u << bit, memory_order_relaxed);
#else
    mask[word] |= 1u << bit;  // BUG race-read-write|race-write-write
#endif
}
