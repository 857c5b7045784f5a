// Sum of each threadgroup by a tree in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.tree_reduction]
//! threadgroups = [2]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [250], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
//! arguments.n = 250
kernel void tree_reduction(device const float* x, device float* y, constant uint& n,
                           uint t [[thread_position_in_threadgroup]],
                           uint g [[threadgroup_position_in_grid]],
                           uint i [[thread_position_in_grid]]) {
  threadgroup float sum[128];
  float value = 0.0f;
  if (i < n) {
    value = x[i];
  }
  sum[t] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 64; s > 0; s >>= 1) {
    if (t < s) {
      sum[t] += sum[t + s];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) {
    y[g] = sum[0];
  }
}
