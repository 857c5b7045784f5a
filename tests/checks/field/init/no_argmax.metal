// Source: written from memory of the class: argmax of a row in which nothing compares greater
// A row of -inf never sets the index.
#include <metal_stdlib>
using namespace metal;

//! [kernel.pick]
//! threads = 32
//! threadgroup = 32
//! arguments.logits = { shape = [32, 4], fill = -inf }
//! arguments.token = { shape = 32, dtype = "int32", fill = "zeros" }
kernel void pick(device const float* logits, device int* token,
                 uint i [[thread_position_in_grid]]) {
    float best = -INFINITY;
#ifdef FIXED
    int at = 0;
#else
    int at;
#endif
    for (int k = 0; k < 4; ++k) {
        if (logits[i * 4 + k] > best) {
            best = logits[i * 4 + k];
            at = k;
        }
    }
    token[i] = at;  // BUG uninitialised-read
}
