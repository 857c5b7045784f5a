// Source: written from memory of the class: a switch over formats without a default
// One of the formats that the host sends has no case.
#include <metal_stdlib>
using namespace metal;

//! [kernel.dequant]
//! threads = 16
//! threadgroup = 16
//! arguments.q = { shape = 16, dtype = "int8", fill = "iota" }
//! arguments.kind = { shape = 16, dtype = "uint8", fill = "iota" }
//! arguments.y = { shape = 16, fill = "zeros" }
kernel void dequant(device const char* q, constant uchar* kind, device float* y,
                    uint i [[thread_position_in_grid]]) {
    float scale;
    switch (kind[i] % 3) {
        case 0: scale = 0.5f; break;
        case 1: scale = 0.25f; break;
#ifdef FIXED
        default: scale = 1; break;
#endif
    }
    y[i] = q[i] * scale;  // BUG uninitialised-read
}
