// Convolution of rows; weights and inputs are shared.
#include <metal_stdlib>
using namespace metal;

//! [kernel.convolution]
//! threadgroups = [3]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [196], fill = "random" }
//! arguments.w = { dtype = "float32", shape = [5], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [192], fill = "uninitialised" }
kernel void convolution(device const float* x, device const float* w, device float* y,
                        uint t [[thread_position_in_threadgroup]],
                        uint g [[threadgroup_position_in_grid]],
                        uint i [[thread_position_in_grid]]) {
  threadgroup float weights[5];
  threadgroup float tile[68];
  if (t < 5) {
    weights[t] = w[t];
  }
  tile[t] = x[g * 64 + t];
  if (t < 4) {
    tile[t + 64] = x[g * 64 + 64 + t];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint k = 0; k < 5; ++k) {
    sum += weights[k] * tile[t + k];
  }
  y[i] = sum;
}
