// Source: https://github.com/pytorch/pytorch/pull/184057
// A class that is as large as the number of classes is not refused.
#include <metal_stdlib>
using namespace metal;

//! [kernel.one_hot]
//! threads = 9
//! threadgroup = 9
//! arguments.label = { shape = 9, dtype = "int64", fill = "iota" }
//! arguments.out = { shape = [9, 8], dtype = "int64", fill = "zeros" }
//! arguments.classes = 8
kernel void one_hot(device const long* label, device long* out, constant long& classes,
                    uint i [[thread_position_in_grid]]) {
    const long c = label[i];
#ifdef FIXED
    if (c < 0 || c >= classes) return;
#endif
    out[long(i) * classes + c] = 1;  // BUG out-of-bounds-write
}
