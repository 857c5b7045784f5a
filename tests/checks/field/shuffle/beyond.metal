// Source: https://github.com/CHIP-SPV/chipStar/pull/1354
// A lane number of a simdgroup of 64 is asked for in one of 32.
#include <metal_stdlib>
using namespace metal;

//! [kernel.beyond]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
kernel void beyond(device const float* x, device float* y,
                   ushort lane [[thread_index_in_simdgroup]]) {
#ifdef FIXED
    const ushort from = (lane + 16) % 32;
#else
    const ushort from = lane + 16;
#endif
    y[lane] = simd_shuffle(x[lane], from);  // BUG lane-out-of-range
}
