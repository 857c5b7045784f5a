// Source: written from memory of the class: lanes that loop over rows of different length
// A value is handed on from the lane below, which may have finished.
#include <metal_stdlib>
using namespace metal;

//! [kernel.loop_trip]
//! threads = 32
//! threadgroup = 32
//! arguments.length = { shape = 32, dtype = "uint32", fill = "iota" }
//! arguments.y = { shape = 32, fill = "zeros" }
kernel void loop_trip(device const uint* length, device float* y,
                      ushort lane [[thread_index_in_simdgroup]]) {
    float v = lane;
    const uint n = length[lane] % 5;
#ifdef FIXED
    for (uint k = 0; k < 5; ++k) {
        float below = simd_shuffle(v, ushort(max(int(lane) - 1, 0)));
        if (k < n) v = 0.5f * (v + below);
    }
#else
    for (uint k = 0; k < n; ++k) {
        float below = simd_shuffle(v, ushort(max(int(lane) - 1, 0)));  // BUG inactive-lane-read
        v = 0.5f * (v + below);
    }
#endif
    y[lane] = v;
}
