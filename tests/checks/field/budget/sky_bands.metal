// Source: https://github.com/avpbynf/Vitrail-Shaders/pull/400
// float3 takes sixteen bytes, so nine bands of 256 samples do not fit.
#include <metal_stdlib>
using namespace metal;

//! [kernel.sky_bands]
//! threads = 256
//! threadgroup = 256
//! arguments.sky = { shape = 256, fill = "zeros" }
#ifdef FIXED
typedef packed_float3 Sample;
#else
typedef float3 Sample;
#endif
kernel void sky_bands(device float* sky,  // BUG threadgroup-memory
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup Sample shared_memory[256][9];  // MAYBE threadgroup-memory
    for (uint band = 0; band < 9; ++band) shared_memory[t][band] = float3(t, band, 1);
    float s = 0;
    for (uint band = 0; band < 9; ++band) s += shared_memory[t][band].y;
    sky[t] = s;
}
