// Source: https://github.com/tensorflow/tensorflow/pull/108695
// Batch times channels times rows in one int; only the last planes are beyond it.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.pool_plane]
//! threads = 4
//! threadgroup = 4
//! arguments.y = { shape = 4, dtype = "int32", fill = "zeros" }
//! arguments.shape = { fields = [["int32", 1024], ["int32", 2048], ["int32", 1200]] }
struct Shape {
    int channels, height, width;
};

int plane(constant Shape& s, int n) {
#ifdef FIXED
    return int(long(n) * s.channels * s.height * s.width % 4);
#else
    return (n * s.channels * s.height * s.width) & 3;  // BUG index-overflow
#endif
}

kernel void pool_plane(device atomic_int* y, constant Shape& shape,
                       uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&y[plane(shape, i)], 1, memory_order_relaxed);
}
