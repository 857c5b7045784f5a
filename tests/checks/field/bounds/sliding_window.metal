// Source: written from memory of the class: a window of attention at the sequence's beginning
// The first positions look back before the first key: an unsigned number wraps round.
#include <metal_stdlib>
using namespace metal;

//! [kernel.sliding_window]
//! threads = 16
//! threadgroup = 16
//! arguments.k = { shape = 16, fill = "random" }
//! arguments.y = { shape = 16, fill = "zeros" }
//! arguments.window = 4
kernel void sliding_window(device const float* k, device float* y, constant uint& window,
                           uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint first = i >= window ? i - window : 0;
    const uint n = i - first;
#else
    const uint first = i - window;
    const uint n = window;
#endif
    float s = 0;
    for (uint j = 0; j < n; ++j) {
        s += k[first + j];  // BUG out-of-bounds-read
    }
    y[i] = s;
}
