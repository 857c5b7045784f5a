// What one adds to atomically, its neighbour writes plainly.
#include <metal_stdlib>
using namespace metal;

//! [kernel.atomic_beside_plain]
//! threadgroup = 256
kernel void atomic_beside_plain(device const float* x, device atomic_int* y, constant float& a,
                                uint i [[thread_position_in_grid]]) {
    device int* plain = reinterpret_cast<device int*>(y);
    plain[i] = int(a * x[i]) + plain[i];
    atomic_fetch_add_explicit(y + i + 1, 1, memory_order_relaxed);
}
