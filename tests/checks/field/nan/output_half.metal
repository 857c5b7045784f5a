// Source: https://github.com/ggml-org/llama.cpp/pull/13975
// The output of attention is summed up in half over a long context.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.output_half]
//! threads = 4
//! threadgroup = 4
//! arguments.v = { shape = 4096, dtype = "float16", fill = 20 }
//! arguments.y = { shape = 4, fill = "zeros" }
//! arguments.length = 4096
#ifdef FIXED
typedef float Sum;
#else
typedef half Sum;
#endif
kernel void output_half(device const half* v, device float* y, constant uint& length,
                        uint i [[thread_position_in_grid]]) {
    Sum o = 0;
    for (uint k = 0; k < length; ++k) {
        o += Sum(v[k]) * Sum(i + 1);  // BUG infinity-born
    }
    y[i] = o / length;
}
