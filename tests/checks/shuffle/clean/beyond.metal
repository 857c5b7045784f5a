// Lanes beyond the simdgroup are named, but nothing comes of it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.last_lane_keeps_its_own]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void last_lane_keeps_its_own(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  float next = simd_shuffle(x[t], t + 1);
  y[t] = t < 31 ? next : x[t];
}

//! [kernel.first_lane_skips]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void first_lane_skips(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  float before = simd_shuffle(x[t], t - 1);
  y[t] = 0.0f;
  if (t > 0)
    y[t] = before;
}

//! [kernel.wrapped_by_hand]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void wrapped_by_hand(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle(x[t], (t + 1) & 31) + simd_shuffle(x[t], (t + 31) % 32);
}

//! [kernel.down_and_up]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void down_and_up(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_down(x[t], 1) + simd_shuffle_up(x[t], 40);
}

//! [kernel.rotated]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void rotated(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_rotate_down(x[t], 1) + simd_shuffle_rotate_up(x[t], 33);
}

//! [kernel.tree_of_lane_0]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void tree_of_lane_0(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  float sum = x[t];
  for (uint step = 16; step > 0; step /= 2) {
    sum += simd_shuffle(sum, t + step);
  }
  if (t == 0)
    y[0] = sum;
}

//! [kernel.lane_of_its_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void lane_of_its_simdgroup(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle(x[t], t % 32 & ~7u) + quad_shuffle(x[t], t & 3);
}
