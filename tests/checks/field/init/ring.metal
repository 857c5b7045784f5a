// Source: written from memory of the class: a prefetching pipeline that reads ahead of its loads
// The tile after the last one is prefetched by nobody, but a value of it goes into the result.
#include <metal_stdlib>
using namespace metal;

//! [kernel.ring]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 96, fill = "random" }
//! arguments.y = { shape = 96, fill = "zeros" }
constant constexpr int STAGES = 4, TILES = 3;

kernel void ring(device const float* x, device float* y,
                 uint t [[thread_position_in_threadgroup]]) {
    threadgroup float buf[STAGES][32];
    for (int i = 0; i < TILES; ++i) buf[i][t] = x[i * 32 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < TILES; ++i) {
#ifdef FIXED
        float next = i + 1 < TILES ? buf[i + 1][t] : 0;
#else
        float next = buf[(i + 1) % STAGES][t];
#endif
        y[i * 32 + t] = buf[i][t] - next;  // BUG uninitialised-read
    }
}
