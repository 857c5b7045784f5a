// All threadgroups write the same elements.
#include <metal_stdlib>
using namespace metal;

//! [kernel.same_in_all_groups]
//! threadgroup = 256
kernel void same_in_all_groups(device const float* x, device float* y, constant float& a,
                               constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    if (t < n) y[t] = a * x[t] + y[t];
}
