// Sum by simdgroup functions and one more step across simdgroups.
#include <metal_stdlib>
using namespace metal;

//! [kernel.simdgroup_reduction]
//! threads = [256]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [256], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void simdgroup_reduction(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]],
                                uint i [[thread_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]],
                                uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[4];
  threadgroup float total;
  float sum = simd_sum(x[i]);
  if (lane == 0) {
    partial[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sg == 0) {
    float part = 0.0f;
    if (lane < 4) {
      part = partial[lane];
    }
    part = simd_sum(part);
    if (lane == 0) {
      total = part;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = x[i] - total;
}
