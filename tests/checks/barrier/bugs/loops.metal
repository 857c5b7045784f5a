// Barriers in loops that some threads leave earlier.
#include <metal_stdlib>
using namespace metal;

//! [kernel.trip_count_of_a_lane]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void trip_count_of_a_lane(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float sum = 0;
  for (uint k = 0; k < t; ++k) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    sum += tile[k];
  }
  y[t] = sum;
}

//! [kernel.trip_count_of_a_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void trip_count_of_a_simdgroup(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]],
                                      uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float sum = 0;
  for (uint k = 0; k <= sg; ++k) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    sum += tile[k];
  }
  y[t] = sum;
} // WITH

//! [kernel.break_before_the_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void break_before_the_barrier(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float value = x[t];
  for (uint k = 0; k < 8; ++k) { // WITH
    if (value > 50.0f) { // WITH
      break; // WITH
    }
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    value += tile[k] + 10.0f;
  }
  y[t] = value;
}

//! [kernel.continue_past_the_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void continue_past_the_barrier(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    if (t % 4 == k) { // WITH
      continue; // WITH
    }
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    sum += tile[(t + k) & 63];
  }
  y[t] = sum;
}

//! [kernel.until_the_lane_converges]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void until_the_lane_converges(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float value = x[t];
  while (value > 1.0f) { // WITH
    tile[t] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    value = 0.5f * tile[t];
  }
  y[t] = value;
}

//! [kernel.strided_loop_with_uneven_end]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 96
kernel void strided_loop_with_uneven_end(device const float* x, device float* y, constant uint& n,
                                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  for (uint k = t; k < n; k += 64) { // WITH
    tile[t] = x[k];
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    y[k] = tile[t];
  }
} // WITH
