// Simdgroups that are not full, and lanes that left.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reduction_over_half_a_simdgroup]
//! threads = [48]
//! threadgroup = [48]
//! arguments.x = { dtype = "float32", shape = [48], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
kernel void reduction_over_half_a_simdgroup(device const float* x, device float* y,
                                            uint t [[thread_position_in_threadgroup]],
                                            uint lane [[thread_index_in_simdgroup]],
                                            uint sg [[simdgroup_index_in_threadgroup]]) {
  float sum = x[t];
  for (ushort d = 16; d > 0; d >>= 1) {
    sum += simd_shuffle_down(sum, d); // BUG inactive-lane-read
  }
  if (lane == 0) {
    y[sg] = sum; // WITH
  }
}

//! [kernel.neighbour_beyond_the_last_lane]
//! threads = [40]
//! threadgroup = [40]
//! arguments.x = { dtype = "float32", shape = [40], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [40], fill = "uninitialised" }
kernel void neighbour_beyond_the_last_lane(device const float* x, device float* y,
                                           uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_down(x[t], 1); // BUG inactive-lane-read
}

//! [kernel.butterfly_over_24_lanes]
//! threads = [24]
//! threadgroup = [24]
//! arguments.x = { dtype = "float32", shape = [24], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [24], fill = "uninitialised" }
kernel void butterfly_over_24_lanes(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  float sum = x[t];
  for (ushort mask = 16; mask > 0; mask >>= 1) {
    sum += simd_shuffle_xor(sum, mask); // BUG inactive-lane-read
  }
  y[t] = sum; // WITH
}

//! [kernel.last_lane_of_each_simdgroup]
//! threads = [70]
//! threadgroup = [70]
//! arguments.x = { dtype = "float32", shape = [70], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [70], fill = "uninitialised" }
kernel void last_lane_of_each_simdgroup(device const float* x, device float* y,
                                        uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], 31); // BUG inactive-lane-read
}

//! [kernel.lanes_beyond_the_end_returned]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 20
kernel void lanes_beyond_the_end_returned(device const float* x, device float* y,
                                          constant uint& n,
                                          uint lane [[thread_index_in_simdgroup]]) {
  if (lane >= n) {
    return;
  }
  float sum = x[lane];
  for (ushort d = 16; d > 0; d >>= 1) {
    sum += simd_shuffle_xor(sum, d); // BUG inactive-lane-read
  }
  y[lane] = sum; // WITH
}

//! [kernel.lane_0_returned]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void lane_0_returned(device const float* x, device float* y,
                            uint lane [[thread_index_in_simdgroup]]) {
  y[lane] = 0.0f;
  if (lane == 0) {
    return;
  }
  y[lane] = x[lane] - simd_shuffle(x[lane], 0); // BUG inactive-lane-read
}

//! [kernel.half_a_quadgroup]
//! threads = [6]
//! threadgroup = [6]
//! arguments.x = { dtype = "float32", shape = [6], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [6], fill = "uninitialised" }
kernel void half_a_quadgroup(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_shuffle_down(x[t], 1); // BUG inactive-lane-read
}
