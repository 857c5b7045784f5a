// Source: https://github.com/ROCm/composable_kernel/issues/3722
// A byte offset overflows before it is divided by the size of a page.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.page_of]
//! threads = 8
//! threadgroup = 8
//! arguments.page = { shape = 4096, dtype = "uint8", fill = "iota" }
//! arguments.y = { shape = 8, dtype = "uint8", fill = "zeros" }
//! arguments.bytes = 1048576
kernel void page_of(device const uchar* page, device uchar* y, constant uint& bytes,
                    uint i [[thread_position_in_grid]]) {
    const uint token = i * 1000;
#ifdef FIXED
    const uint at = ulong(token) * bytes / (8u << 20);
#else
    const uint at = token * bytes / (8u << 20);  // BUG index-overflow
#endif
    y[i] = page[at];
}
