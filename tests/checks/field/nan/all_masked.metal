// Source: https://github.com/iree-org/iree/issues/24175
// No key is left: the numerator and the denominator are both zero.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.all_masked]
//! threads = 16
//! threadgroup = 16
//! arguments.mask = { shape = [16, 4], dtype = "uint8", fill = 0 }
//! arguments.v = { shape = 4, fill = "random" }
//! arguments.o = { shape = 16, fill = "zeros" }
kernel void all_masked(device const bool* mask, constant float* v, device float* o,
                       uint i [[thread_position_in_grid]]) {
    float acc = 0, total = 0;
    for (uint j = 0; j < 4; ++j) {
        if (!mask[i * 4 + j]) continue;
        const float p = exp(-float(j));
        acc += p * v[j];
        total += p;
    }
#ifdef FIXED
    o[i] = total > 0 ? acc / total : 0;
#else
    o[i] = acc / total;  // BUG nan-born
#endif
}
