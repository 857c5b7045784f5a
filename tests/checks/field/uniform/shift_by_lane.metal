// Source: https://github.com/modular/modular/pull/5487
// The distance of simd_shuffle_down depends on the lane.
#include <metal_stdlib>
using namespace metal;

//! [kernel.shift_by_lane]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, dtype = "int32", fill = "iota" }
//! arguments.y = { shape = 32, dtype = "int32", fill = "zeros" }
kernel void shift_by_lane(device const int* x, device int* y,
                          ushort lane [[thread_index_in_simdgroup]]) {
#ifdef FIXED
    y[lane] = simd_shuffle(x[lane], ushort(lane + (lane < 16 ? 1 : 0)));
#else
    y[lane] = simd_shuffle_down(x[lane], ushort(lane < 16 ? 1 : 0));  // BUG non-uniform-argument
#endif
}
