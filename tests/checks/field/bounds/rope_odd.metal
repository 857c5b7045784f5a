// Source: written from memory of the class: rotary embedding of a head size that is no pair
// The partner of the last element of an odd number of rotated dimensions is in the next row.
#include <metal_stdlib>
using namespace metal;

//! [kernel.rope_odd]
//! threads = [4, 3]
//! threadgroup = [4, 1]
//! arguments.x = { shape = [3, 7], fill = "random" }
//! arguments.dims = 7
kernel void rope_odd(device float* x, constant uint& dims, uint2 p [[thread_position_in_grid]]) {
    const uint pair = 2 * p.x;
#ifdef FIXED
    if (pair + 1 >= dims) return;
#else
    if (pair >= dims) return;
#endif
    device float* row = x + (2 - p.y) * dims;
    const float angle = p.y * pow(10000.0f, -float(pair) / dims);
    const float a = row[pair];
    const float b = row[pair + 1];  // BUG out-of-bounds-read
    row[pair] = a * cos(angle) - b * sin(angle);
    row[pair + 1] = a * sin(angle) + b * cos(angle);
}
