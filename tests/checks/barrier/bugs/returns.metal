// Threads that return before a barrier which others wait at.
#include <metal_stdlib>
using namespace metal;

//! [kernel.guard_before_the_barrier]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void guard_before_the_barrier(device const float* x, device float* y, constant uint& n,
                                     uint t [[thread_position_in_threadgroup]],
                                     uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  if (i >= n) { // WITH
    return; // WITH
  }
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  y[i] = tile[t];
}

//! [kernel.one_lane_returns]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void one_lane_returns(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  y[t] = 0;
  if (t == 5) { // WITH
    return; // WITH
  }
  threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  y[t] = tile[63 - t];
}

//! [kernel.one_simdgroup_returns]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void one_simdgroup_returns(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]],
                                  uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  y[t] = 0;
  if (sg == 1) { // WITH
    return; // WITH
  }
  threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  y[t] = tile[63 - t];
}

//! [kernel.return_between_two_barriers]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void return_between_two_barriers(device const float* x, device float* y,
                                        uint t [[thread_position_in_threadgroup]],
                                        uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = tile[63 - t];
  y[t] = sum;
  if (sg == 0) { // WITH
    return; // WITH
  }
  threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  y[t] = sum + 1.0f;
}

//! [kernel.return_inside_a_loop]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void return_inside_a_loop(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    sum += tile[(t + k) & 63];
    if (sum > 100.0f) { // WITH
      y[t] = sum;
      return; // WITH
    }
  }
  y[t] = sum;
}

//! [kernel.guard_in_two_dimensions]
//! threadgroups = [1]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.n = 7
kernel void guard_in_two_dimensions(device const float* x, device float* y, constant uint& n,
                                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][8];
  if (t.x >= n || t.y >= n) { // WITH
    return; // WITH
  }
  tile[t.y][t.x] = x[t.y * 8 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  y[t.y * 8 + t.x] = tile[t.y][t.x];
}

//! [kernel.different_barriers_in_time]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void different_barriers_in_time(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]],
                                       uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (sg == 0) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    y[t] = tile[t];
    return;
  }
  y[t] = tile[t] + 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup); // WITH
}
