// Only some lanes take part, and they read each other.
#include <metal_stdlib>
using namespace metal;

//! [kernel.within_the_lower_half]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void within_the_lower_half(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t < 16) {
    value += simd_shuffle_xor(value, 8);
  }
  y[t] = value;
}

//! [kernel.odd_lanes_read_odd]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void odd_lanes_read_odd(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t & 1) {
    value = simd_shuffle(value, t ^ 2);
  }
  y[t] = value;
}

//! [kernel.whole_quadgroups]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void whole_quadgroups(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if ((t / 4) & 1) {
    value += quad_shuffle_xor(value, 3) + quad_broadcast(value, 1);
  }
  y[t] = value;
}

//! [kernel.first_active_lane]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void first_active_lane(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t > 5) {
    value -= simd_broadcast_first(value);
  }
  y[t] = value;
}

//! [kernel.sums_over_active_lanes]
//! threads = [48]
//! threadgroup = [48]
//! arguments.x = { dtype = "float32", shape = [48], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
kernel void sums_over_active_lanes(device const float* x, device float* y,
                                   uint t [[thread_position_in_threadgroup]],
                                   uint lane [[thread_index_in_simdgroup]],
                                   uint sg [[simdgroup_index_in_threadgroup]]) {
  float sum = simd_sum(x[t]);
  if (lane == 0) {
    y[sg] = sum;
  }
}

//! [kernel.mask_of_active_lanes_asked_first]
//! threads = [40]
//! threadgroup = [40]
//! arguments.x = { dtype = "float32", shape = [40], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [40], fill = "uninitialised" }
kernel void mask_of_active_lanes_asked_first(device const float* x, device float* y,
                                             uint t [[thread_position_in_threadgroup]],
                                             uint lane [[thread_index_in_simdgroup]]) {
  ulong active = ulong(simd_active_threads_mask());
  ushort source = (active >> (lane + 1)) & 1 ? lane + 1 : lane;
  y[t] = simd_shuffle(x[t], source);
}

//! [kernel.reduction_over_the_lanes_there_are]
//! threads = [48]
//! threadgroup = [48]
//! arguments.x = { dtype = "float32", shape = [48], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
kernel void reduction_over_the_lanes_there_are(device const float* x, device float* y,
                                               uint t [[thread_position_in_threadgroup]],
                                               uint lane [[thread_index_in_simdgroup]],
                                               uint sg [[simdgroup_index_in_threadgroup]]) {
  float sum = x[t];
  ushort width = sg == 0 ? 32 : 16;
  for (ushort d = width / 2; d > 0; d >>= 1) {
    sum += simd_shuffle_xor(sum, d);
  }
  if (lane == 0) {
    y[sg] = sum;
  }
}
