// Not-a-numbers and infinities that come from outside or are meant.
#include <metal_stdlib>
using namespace metal;

//! [kernel.nan_comes_in]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = nan }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void nan_comes_in(device const float* x, device float* y,
                         uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * 2.0f + 1.0f;
}

//! [kernel.infinity_comes_in]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = inf }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void infinity_comes_in(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + 1.0f;
}

//! [kernel.nan_literal]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void nan_literal(device const float* x, device float* y,
                        uint i [[thread_position_in_grid]]) {
  y[i] = x[i] > 20.0f ? NAN : x[i];
}

//! [kernel.nan_replaced]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = nan }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void nan_replaced(device const float* x, device float* y,
                         uint i [[thread_position_in_grid]]) {
  uint bits = as_type<uint>(x[i]);
  bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  y[i] = is_nan ? 0.0f : x[i];
}

//! [kernel.start_of_a_maximum]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void start_of_a_maximum(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  float most = -INFINITY;
  for (uint k = 0; k < 4; ++k) {
    most = max(most, x[(i + k) & 31]);
  }
  y[i] = most;
}

//! [kernel.causal_mask]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void causal_mask(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  float score = t < 20 ? x[t] : -INFINITY;
  float most = simd_max(score);
  float weight = exp(score - most);
  y[t] = weight / simd_sum(weight);
}

//! [kernel.running_softmax]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void running_softmax(device const float* x, device float* y,
                            uint i [[thread_position_in_grid]]) {
  float most = -INFINITY, sum = 0;
  for (uint k = 0; k < 8; ++k) {
    float score = x[(i + k) & 31];
    float larger = max(most, score);
    sum = sum * exp(most - larger) + exp(score - larger);
    most = larger;
  }
  y[i] = sum;
}

//! [kernel.one_by_infinity]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void one_by_infinity(device const float* x, device float* y,
                            uint i [[thread_position_in_grid]]) {
  float distance = x[i] > 10.0f ? INFINITY : x[i] + 1.0f;
  y[i] = 1.0f / distance;
}

//! [kernel.sign_of_infinity]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void sign_of_infinity(device const float* x, device float* y,
                             uint i [[thread_position_in_grid]]) {
  float limit = x[i] > 10.0f ? INFINITY : -INFINITY;
  y[i] = clamp(x[i], -limit, limit) < limit ? 1.0f : 0.0f;
}

//! [kernel.bits_of_a_nan]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void bits_of_a_nan(device const int* x, device float* y,
                          uint i [[thread_position_in_grid]]) {
  y[i] = as_type<float>(0x7fc00000 | x[i]);
}
