// Guards before what could go wrong.
#include <metal_stdlib>
using namespace metal;

//! [kernel.division_under_a_branch]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void division_under_a_branch(device const float* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  float value = 0;
  if (x[i] != 0.0f) {
    value = 1.0f / x[i];
  }
  y[i] = value;
}

//! [kernel.division_selected]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void division_selected(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  y[i] = x[i] == 0.0f ? 0.0f : 10.0f / x[i];
}

//! [kernel.epsilon_under_the_root]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void epsilon_under_the_root(device const float4* x, device float* y,
                                   uint i [[thread_position_in_grid]]) {
  y[i] = x[i].x * rsqrt(dot(x[i], x[i]) + 1e-6f);
}

//! [kernel.root_of_a_clamped_value]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void root_of_a_clamped_value(device const float* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  y[i] = sqrt(max(x[i] - 3.0f, 0.0f));
}

//! [kernel.exponential_of_a_clamped_value]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void exponential_of_a_clamped_value(device const float* x, device float* y,
                                           uint i [[thread_position_in_grid]]) {
  y[i] = exp(min(x[i] * 8.0f, 80.0f));
}

//! [kernel.stable_softmax]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void stable_softmax(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  float score = x[t] * 100.0f;
  float weight = exp(score - simd_max(score));
  y[t] = weight / simd_sum(weight);
}

//! [kernel.logarithm_of_one_more]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void logarithm_of_one_more(device const float* x, device float* y,
                                  uint i [[thread_position_in_grid]]) {
  y[i] = log(1.0f + x[i]);
}

//! [kernel.largest_half]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [32], fill = "uninitialised" }
kernel void largest_half(device const float* x, device half* y,
                         uint i [[thread_position_in_grid]]) {
  y[i] = half(min(x[i] * 4000.0f, 65504.0f));
}

//! [kernel.exponential_of_a_large_negative]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void exponential_of_a_large_negative(device const float* x, device float* y,
                                            uint i [[thread_position_in_grid]]) {
  y[i] = exp(-100.0f * x[i]) + 1.0f;
}

//! [kernel.hyperbolic_tangent]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void hyperbolic_tangent(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  y[i] = tanh(x[i] * 4.0f);
}

//! [kernel.arc_cosine_of_a_clamped_value]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void arc_cosine_of_a_clamped_value(device const float* x, device float* y,
                                          uint i [[thread_position_in_grid]]) {
  y[i] = acos(clamp(x[i] * 0.5f - 3.0f, -1.0f, 1.0f));
}

//! [kernel.mean_of_at_least_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 0
kernel void mean_of_at_least_one(device const float* x, device float* y, constant uint& n,
                                 uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += x[k];
  }
  y[i] = sum / float(max(n, 1u));
}
