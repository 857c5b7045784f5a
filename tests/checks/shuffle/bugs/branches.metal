// Lanes read lanes that took the other way.
#include <metal_stdlib>
using namespace metal;

//! [kernel.lower_half_reads_upper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void lower_half_reads_upper(device const float* x, device float* y,
                                   uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  y[lane] = value;
  if (lane < 16) {
    y[lane] = simd_shuffle_down(value, 16); // BUG inactive-lane-read
  }
}

//! [kernel.odd_lanes_read_even]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void odd_lanes_read_even(device const float* x, device float* y,
                                uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if (lane & 1) {
    value += simd_shuffle_xor(value, 1); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.broadcast_from_a_lane_outside]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void broadcast_from_a_lane_outside(device const float* x, device float* y,
                                          uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if (lane > 3) {
    value -= simd_broadcast(value, 0); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.condition_from_data]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void condition_from_data(device const float* x, device float* y,
                                uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if (value > 7.0f) {
    value = simd_shuffle(value, (lane + 1) & 31); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.previous_lane_in_a_branch]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void previous_lane_in_a_branch(device const float* x, device float* y,
                                      uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if (lane % 4 != 0) {
    value += simd_shuffle_up(value, 1); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.rotation_in_a_branch]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void rotation_in_a_branch(device const float* x, device float* y,
                                 uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if (lane != 9) {
    value = simd_shuffle_rotate_down(value, 1); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.quad_neighbours_in_a_branch]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_neighbours_in_a_branch(device const float* x, device float* y,
                                        uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if ((lane & 3) != 2) {
    value += quad_shuffle_xor(value, 1); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.quad_broadcast_from_outside]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_broadcast_from_outside(device const float* x, device float* y,
                                        uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if ((lane & 3) != 0) {
    value -= quad_broadcast(value, 0); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.arms_of_a_switch]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void arms_of_a_switch(device const int* x, device int* y,
                             uint lane [[thread_index_in_simdgroup]]) {
  int value = x[lane];
  switch (value % 3) {
    case 0: value = simd_shuffle_xor(value, 2); break; // BUG inactive-lane-read
    case 1: value = 100; break;
    default: value = 200; break;
  }
  y[lane] = value; // WITH
}

//! [kernel.vector_of_values]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void vector_of_values(device const float* x, device float* y,
                             uint lane [[thread_index_in_simdgroup]]) {
  float2 value = float2(x[lane], 1.0f);
  if (lane >= 8) {
    value = simd_shuffle(value, lane - 8); // BUG inactive-lane-read
  }
  y[lane] = value.x + value.y; // WITH
}
