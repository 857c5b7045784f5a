// Source: written from memory of the class: a cyclic shift in place
// Each element moves to where another thread reads its own.
#include <metal_stdlib>
using namespace metal;

//! [kernel.roll]
//! threads = 100
//! threadgroup = 50
//! arguments.x = { shape = 100, dtype = "float16", fill = "random" }
//! arguments.y = { shape = 100, dtype = "float16", fill = "zeros" }
//! arguments.by = 33
kernel void roll(device half* x, device half* y, constant uint& by,
                 uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
    half v = x[i];  // WITH
#ifdef FIXED
    y[(i + by) % n] = v;
#else
    x[(i + by) % n] = v;  // BUG race-read-write
#endif
}
