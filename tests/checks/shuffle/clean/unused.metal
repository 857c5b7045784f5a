// Inactive lanes are read, but what comes back is not used.
#include <metal_stdlib>
using namespace metal;

//! [kernel.selected_away]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void selected_away(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t < 24) {
    float other = simd_shuffle_xor(value, 16);
    value = t < 8 ? other + 1.0f : t < 16 ? value : other;
  }
  y[t] = value;
}

//! [kernel.last_lane_keeps_its_own]
//! threads = [40]
//! threadgroup = [40]
//! arguments.x = { dtype = "float32", shape = [40], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [40], fill = "uninitialised" }
//! arguments.n = 40
kernel void last_lane_keeps_its_own(device const float* x, device float* y, constant uint& n,
                                    uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  float right = simd_shuffle_down(value, 1);
  y[t] = t + 1 < n ? value + right : value;
}

//! [kernel.prefix_sum]
//! threads = [48]
//! threadgroup = [48]
//! arguments.x = { dtype = "float32", shape = [48], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [48], fill = "uninitialised" }
kernel void prefix_sum(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  float sum = x[t];
  for (ushort d = 1; d < 32; d <<= 1) {
    float left = simd_shuffle_up(sum, d);
    sum += lane >= d ? left : 0.0f;
  }
  y[t] = sum;
}

//! [kernel.masked_butterfly]
//! threads = [24]
//! threadgroup = [24]
//! arguments.x = { dtype = "float32", shape = [24], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [24], fill = "uninitialised" }
kernel void masked_butterfly(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  float most = x[t];
  for (ushort mask = 16; mask > 0; mask >>= 1) {
    float other = simd_shuffle_xor(most, mask);
    if ((lane ^ mask) < 24) {
      most = max(most, other);
    }
  }
  y[t] = most;
}

//! [kernel.result_not_used_at_all]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void result_not_used_at_all(device const float* x, device float* y,
                                   uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t > 20) {
    float other = simd_shuffle(value, 0);
    value = other == other ? value : value;
  }
  y[t] = x[t];
}

//! [kernel.stored_by_lanes_with_a_partner]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void stored_by_lanes_with_a_partner(device const float* x, device float* y,
                                           uint t [[thread_position_in_threadgroup]]) {
  y[t] = 0.0f;
  if (t < 20) {
    float other = simd_shuffle_down(x[t], 4);
    if (t < 16) {
      y[t] = other;
    }
  }
}
