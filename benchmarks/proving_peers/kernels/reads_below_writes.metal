// All read what is below n and write above.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reads_below_writes]
//! threadgroup = 256
// assay: assume(n >= 1 and n <= 1000000)
kernel void reads_below_writes(device float* y, constant uint& n,
                               uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint j = 1; j < n; ++j) sum += y[j];
    y[i + n] = sum;
}
