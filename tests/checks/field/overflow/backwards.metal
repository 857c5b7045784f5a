// Source: written from memory of the class: an unsigned difference widened to a pointer offset
// The step to an earlier element is a large unsigned number when it is added to a pointer.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.backwards]
//! threads = 16
//! threadgroup = 16
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 16, fill = "zeros" }
//! arguments.back = 20
kernel void backwards(device const float* x, device float* y, constant uint& back,
                      uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const int from = int(i) - int(back);
    y[i] = from >= 0 ? x[from] : 0;
#else
    const uint from = i - back;  // BUG index-overflow
    y[i] = x[from];              // MAYBE out-of-bounds-read
#endif
}
