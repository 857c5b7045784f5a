// Source: written from memory of the class: pooling with ceil_mode
// The last window begins inside of the row and ends behind it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.pool_ceil]
//! threads = 4
//! threadgroup = 4
//! arguments.x = { shape = 10, dtype = "int8", fill = "iota" }
//! arguments.y = { shape = 4, dtype = "int8", fill = "zeros" }
//! arguments.size = 10
struct Window {
    int begin, end;
};

Window window(uint i, int size) {
    int begin = int(i) * 3;
#ifdef FIXED
    return {begin, min(begin + 3, size)};
#else
    return {begin, begin + 3};
#endif
}

kernel void pool_ceil(device const char* x, device char* y, constant int& size,
                      uint i [[thread_position_in_grid]]) {
    const Window w = window(i, size);
    char most = -128;
    for (int k = w.begin; k < w.end; ++k) {
        most = max(most, x[k]);  // BUG out-of-bounds-read
    }
    y[i] = most;
}
