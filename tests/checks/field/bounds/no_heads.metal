// Source: written from memory of the class: a division by a macro that is zero
// Grouped heads: the number of heads for keys was left at its default.
#include <metal_stdlib>
using namespace metal;

//! [kernel.no_heads]
//! threads = 8
//! threadgroup = 8
//! arguments.y = { shape = 8, dtype = "uint32", fill = "zeros" }
#define HEADS 8
#ifdef FIXED
#define KV_HEADS 2
#else
#define KV_HEADS 0
#endif
kernel void no_heads(device uint* y, uint i [[thread_position_in_grid]]) {
    constexpr uint heads = HEADS;
    y[i] = i * KV_HEADS / heads + (KV_HEADS ? 0 : 1);
    y[i] += i / KV_HEADS;  // BUG division-by-zero
}
