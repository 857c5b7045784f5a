// Divisions and roots that have no answer.
#include <metal_stdlib>
using namespace metal;

//! [kernel.zero_by_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void zero_by_zero(device const float* x, device float* y,
                         uint i [[thread_position_in_grid]]) {
  y[i] = x[i] / (x[i] * x[i]); // BUG nan-born
}

//! [kernel.one_by_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void one_by_zero(device const float* x, device float* y,
                        uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f / x[i]; // BUG infinity-born
}

//! [kernel.normalised_zero_vector]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void normalised_zero_vector(device const float4* x, device float* y,
                                   uint i [[thread_position_in_grid]]) {
  float4 value = x[i];
  float length = sqrt(dot(value, value));
  y[i] = value.x / length; // BUG nan-born
}

//! [kernel.reciprocal_root_of_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void reciprocal_root_of_zero(device const float* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  float mean = x[i] * x[i] * 0.5f;
  y[i] = rsqrt(mean); // BUG infinity-born
}

//! [kernel.root_of_a_negative]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void root_of_a_negative(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  y[i] = sqrt(x[i] - 3.0f); // BUG nan-born
}

//! [kernel.variance_by_cancellation]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = 1000.1 }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 32
kernel void variance_by_cancellation(device const float* x, device float* y, constant uint& n,
                                     uint i [[thread_position_in_grid]]) {
  float mean = x[i];
  float variance = x[i] * mean * 0.999f - mean * mean;
  y[i] = sqrt(variance); // BUG nan-born
}

//! [kernel.mean_of_nothing]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 0
kernel void mean_of_nothing(device const float* x, device float* y, constant uint& n,
                            uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += x[k];
  }
  y[i] = sum / float(n); // BUG nan-born
}

//! [kernel.remainder_by_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void remainder_by_zero(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  y[i] = fmod(x[i] + 1.0f, x[i]); // BUG nan-born
}

//! [kernel.empty_row_in_a_helper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
static float mean(device const float* x, uint count) {
  float sum = 0;
  for (uint k = 0; k < count; ++k) {
    sum += x[k];
  }
  return sum / float(count); // BUG nan-born
}
kernel void empty_row_in_a_helper(device const float* x, device float* y,
                                  uint i [[thread_position_in_grid]]) {
  y[i] = mean(x, i / 4);
}
