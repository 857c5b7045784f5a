// Source: written from memory of the class: square transpose in place by swapping
// Both threads of a pair swap, those above the diagonal and those below it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.swap_tiles]
//! threads = [16, 16]
//! threadgroup = [8, 8]
//! arguments.m = { shape = [16, 16], dtype = "int16", fill = "iota" }
kernel void swap_tiles(device short* m, uint2 p [[thread_position_in_grid]]) {
#ifdef FIXED
    if (p.x <= p.y) return;
#else
    if (p.x == p.y) return;
#endif
    short a = m[p.y * 16 + p.x];  // MAYBE race-read-write
    short b = m[p.x * 16 + p.y];  // WITH
    m[p.y * 16 + p.x] = b;        // BUG race-read-write|race-write-write
    m[p.x * 16 + p.y] = a;        // MAYBE race-read-write|race-write-write
}
