// Odd ones write their neighbour's element, too.
#include <metal_stdlib>
using namespace metal;

//! [kernel.neighbour_at_times]
//! threadgroup = 256
kernel void neighbour_at_times(device const float* x, device float* y, constant float& a,
                               uint i [[thread_position_in_grid]]) {
    bool is_odd = false;
    if (i % 2 != 0) is_odd = true;
    y[i] = a * x[i];
    if (is_odd) y[i + 1] = a * x[i];
}
