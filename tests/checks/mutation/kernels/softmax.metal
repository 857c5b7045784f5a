// Softmax of rows; a row is shared by four simdgroups.
#include <metal_stdlib>
using namespace metal;

//! [kernel.softmax]
//! threadgroups = [2]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [256], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void softmax(device const float* x, device float* y, uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float scratch[4];
  float value = x[i] * 0.125f;
  float most = simd_max(value);
  if (lane == 0) {
    scratch[sg] = most;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  most = max(max(scratch[0], scratch[1]), max(scratch[2], scratch[3]));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float weight = exp(value - most);
  float sum = simd_sum(weight);
  if (lane == 0) {
    scratch[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = (scratch[0] + scratch[1]) + (scratch[2] + scratch[3]);
  y[i] = weight / sum;
}
