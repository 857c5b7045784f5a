// All lanes take part.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reduction]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
kernel void reduction(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]]) {
  float sum = x[t];
  for (ushort d = 16; d > 0; d >>= 1) {
    sum += simd_shuffle_down(sum, d);
  }
  if (lane == 0) {
    y[sg] = sum;
  }
}

//! [kernel.butterfly]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void butterfly(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
  float sum = x[t];
  for (ushort mask = 16; mask > 0; mask >>= 1) {
    sum += simd_shuffle_xor(sum, mask);
  }
  y[t] = sum;
}

//! [kernel.branch_on_an_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 3
kernel void branch_on_an_argument(device const float* x, device float* y, constant uint& n,
                                  uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (n > 2) {
    value = simd_shuffle(value, 31 - t);
  }
  y[t] = value;
}

//! [kernel.branch_on_the_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void branch_on_the_simdgroup(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]],
                                    uint sg [[simdgroup_index_in_threadgroup]]) {
  float value = x[t];
  if (sg == 1) {
    value = simd_shuffle_rotate_up(value, 5);
  }
  y[t] = value;
}

//! [kernel.beyond_the_last_lane_is_ones_own]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void beyond_the_last_lane_is_ones_own(device const float* x, device float* y,
                                             uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  y[t] = simd_shuffle_up(value, 3) + simd_shuffle_down(value, 5);
}

//! [kernel.filled_at_the_ends]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void filled_at_the_ends(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  y[t] = simd_shuffle_and_fill_down(value, 0.0f, 4) + simd_shuffle_and_fill_up(value, 1.0f, 4);
}

//! [kernel.lanes_part_and_meet]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void lanes_part_and_meet(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t & 1) {
    value *= 2.0f;
  } else {
    value += 1.0f;
  }
  y[t] = simd_shuffle_xor(value, 1);
}

//! [kernel.vectors]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void vectors(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  float3 value = float3(x[t], 1.0f, 2.0f);
  value = simd_shuffle(value, 31 - t);
  y[t] = value.x + value.y + value.z;
}

//! [kernel.loop_with_the_same_count]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void loop_with_the_same_count(device const int* x, device int* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  int value = x[t];
  int sum = 0;
  for (ushort k = 0; k < 32; ++k) {
    sum += simd_broadcast(value, k) * int(k);
  }
  y[t] = sum;
}
