// Prefix sum of a threadgroup in two buffers.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void scan(device const float* x, device float* y,
                 uint t [[thread_position_in_threadgroup]], uint i [[thread_position_in_grid]]) {
  threadgroup float first[64];
  threadgroup float second[64];
  first[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint d = 1; d < 64; d *= 4) {
    second[t] = first[t];
    if (t >= d) {
      second[t] += first[t - d];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    first[t] = second[t];
    if (t >= 2 * d) {
      first[t] += second[t - 2 * d];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i] = first[t];
}
