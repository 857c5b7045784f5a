// Source: written from memory of the class: accumulators cleared for half of the head
// The loop that clears them counts pairs, the one that adds counts elements.
#include <metal_stdlib>
using namespace metal;

//! [kernel.half_zeroed]
//! threads = 8
//! threadgroup = 8
//! arguments.v = { shape = [8, 8], fill = "random" }
//! arguments.y = { shape = [8, 8], fill = "zeros" }
//! arguments.keys = 3
#ifdef FIXED
constant constexpr int CLEARED = 8;
#else
constant constexpr int CLEARED = 4;
#endif
kernel void half_zeroed(device const float* v, device float* y, constant int& keys,
                        uint i [[thread_position_in_grid]]) {
    float acc[8];
    for (int d = 0; d < CLEARED; ++d) acc[d] = 0;
    for (int k = 0; k < keys; ++k) {
        for (int d = 0; d < 8; ++d) acc[d] += v[k * 8 + d] * float(i);
    }
    for (int d = 0; d < 8; ++d) y[i * 8 + d] = acc[d];  // BUG uninitialised-read
}
