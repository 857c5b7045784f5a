// Layer norm: mean and variance of a row by two reductions.
#include <metal_stdlib>
using namespace metal;

//! [kernel.layer_norm]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "random" }
//! arguments.scale = { dtype = "float32", shape = [128], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
//! arguments.n = 128
kernel void layer_norm(device const float* x, device const float* scale, device float* y,
                       constant uint& n, uint t [[thread_position_in_threadgroup]],
                       uint g [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[2];
  threadgroup float squares[2];
  float sum = 0.0f;
  for (uint k = t; k < n; k += 64) {
    sum += x[g * n + k];
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    sums[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float mean = (sums[0] + sums[1]) / float(n);
  float square = 0.0f;
  for (uint k = t; k < n; k += 64) {
    float difference = x[g * n + k] - mean;
    square += difference * difference;
  }
  square = simd_sum(square);
  if (lane == 0) {
    squares[sg] = square;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float factor = rsqrt((squares[0] + squares[1]) / float(n) + 1.0f);
  for (uint k = t; k < n; k += 64) {
    y[g * n + k] = (x[g * n + k] - mean) * factor * scale[k];
  }
}
