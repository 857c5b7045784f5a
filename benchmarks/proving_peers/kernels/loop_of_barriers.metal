// A loop whose barriers its reads end with; places shift by one behind it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.loop_of_barriers]
//! threadgroup = 256
// assay: assume(groups.x == 1)
// assay: assume(n >= 1 and n <= 1000000)
kernel void loop_of_barriers(device float* y, constant uint& n, uint t [[thread_index_in_threadgroup]]) {
    float sum = 0;
    y[t] = 0;
    threadgroup_barrier(mem_flags::mem_device);
    for (uint j = 1; j < n; ++j) {
        sum += y[j];
        threadgroup_barrier(mem_flags::mem_device);
    }
    y[t + 1] = sum;
}
