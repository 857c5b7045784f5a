// Source: https://github.com/triton-lang/triton/issues/6043
// Byte indices from a table are taken for signed ones, negative from 128 on.
#include <metal_stdlib>
using namespace metal;

//! [kernel.signed_byte]
//! threads = 192
//! threadgroup = 64
//! arguments.x = { shape = 256, fill = "random" }
//! arguments.at = { shape = 192, dtype = "uint8", fill = "iota" }
//! arguments.y = { shape = 192, fill = "zeros" }
#ifdef FIXED
typedef uchar Index;
#else
typedef char Index;
#endif
kernel void signed_byte(device const float* x, device const Index* at, device float* y,
                        uint i [[thread_position_in_grid]]) {
    y[i] = x[at[i]];  // BUG out-of-bounds-read
}
