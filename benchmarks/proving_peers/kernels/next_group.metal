// Each threadgroup reads what the next one writes.
#include <metal_stdlib>
using namespace metal;

//! [kernel.next_group]
//! threadgroup = 128
kernel void next_group(device int* a, uint i [[thread_position_in_grid]]) {
    a[i] += a[i + 128];
}
