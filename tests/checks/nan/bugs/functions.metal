// Functions outside their domain, and numbers that grow too large.
#include <metal_stdlib>
using namespace metal;

//! [kernel.logarithm_of_zero]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void logarithm_of_zero(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  y[i] = log(x[i]); // BUG infinity-born
}

//! [kernel.logarithm_of_a_negative]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void logarithm_of_a_negative(device const float* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  y[i] = log2(x[i] - 40.0f); // BUG nan-born
}

//! [kernel.arc_cosine_of_more_than_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void arc_cosine_of_more_than_one(device const float* x, device float* y,
                                        uint i [[thread_position_in_grid]]) {
  y[i] = acos(x[i] * 0.5f); // BUG nan-born
}

//! [kernel.power_of_a_negative]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void power_of_a_negative(device const float* x, device float* y,
                                uint i [[thread_position_in_grid]]) {
  y[i] = pow(x[i] - 50.0f, 0.5f); // BUG nan-born
}

//! [kernel.exponential_too_large]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void exponential_too_large(device const float* x, device float* y,
                                  uint i [[thread_position_in_grid]]) {
  y[i] = exp(x[i] * 8.0f); // BUG infinity-born
}

//! [kernel.half_too_large]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void half_too_large(device const float* x, device half* y,
                           uint i [[thread_position_in_grid]]) {
  y[i] = half(x[i] * 4000.0f); // BUG infinity-born
}

//! [kernel.half_accumulator]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float16", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [32], fill = "uninitialised" }
kernel void half_accumulator(device const half* x, device half* y,
                             uint i [[thread_position_in_grid]]) {
  half sum = 0;
  for (uint k = 0; k < 32; ++k) {
    sum += x[k] * 200.0h; // BUG infinity-born
  }
  y[i] = sum;
}

//! [kernel.product_too_large]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void product_too_large(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  float value = x[i];
  for (uint k = 0; k < 6; ++k) {
    value = value * value; // BUG infinity-born
  }
  y[i] = value;
}

//! [kernel.infinity_minus_infinity]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void infinity_minus_infinity(device const float* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  float most = x[i] > 100.0f ? x[i] : -INFINITY;
  y[i] = exp(most - most); // BUG nan-born
}

//! [kernel.zero_times_infinity]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void zero_times_infinity(device const float* x, device float* y,
                                uint i [[thread_position_in_grid]]) {
  float weight = x[i] > 100.0f ? 1.0f : INFINITY;
  y[i] = (x[i] - x[i]) * weight; // BUG nan-born
}

//! [kernel.softmax_of_a_masked_row]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void softmax_of_a_masked_row(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  float score = x[t] < 50.0f ? -INFINITY : x[t];
  float most = simd_max(score);
  float weight = exp(score - most); // BUG nan-born
  y[t] = weight / simd_sum(weight);
}

//! [kernel.naive_softmax]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void naive_softmax(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  float weight = exp(x[t] * 10.0f); // BUG infinity-born
  float sum = simd_sum(weight);
  y[t] = sum > 1.0f ? 1.0f : 0.0f;
}

//! [kernel.gelu_by_its_exponentials]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void gelu_by_its_exponentials(device const float* x, device float* y,
                                     uint i [[thread_position_in_grid]]) {
  float value = x[i] * 4.0f;
  float up = exp(value); // BUG infinity-born
  float down = exp(-value);
  y[i] = (up - down) / (up + down); // BUG nan-born
}
