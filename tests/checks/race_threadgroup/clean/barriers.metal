// Shared tiles with the barriers that they need.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reverse]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void reverse(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.double_buffer]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void double_buffer(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][64];
  tile[0][t] = x[t];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k + 1 < 4) {
      tile[(k + 1) & 1][t] = x[(k + 1) * 64 + t];
    }
    sum += tile[k & 1][63 - t];
  }
  y[t] = sum;
}

//! [kernel.two_barriers_per_iteration]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void two_barriers_per_iteration(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[t] = x[k * 64 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = sum;
}

//! [kernel.three_buffers_one_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [192], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void three_buffers_one_barrier(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[3][64];
  float sum = 0;
  for (uint k = 0; k < 3; ++k) {
    tile[k % 3][t] = x[k * 64 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[k % 3][t ^ 32];
  }
  y[t] = sum;
}

//! [kernel.barrier_in_helper]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
static void meet() {
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
kernel void barrier_in_helper(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  meet();
  y[t] = tile[63 - t];
}

//! [kernel.both_flags]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void both_flags(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.no_flags_but_no_sharing]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void no_flags_but_no_sharing(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_none);
  y[t] = tile[t] + 1.0f;
}

//! [kernel.weak_barrier_then_a_proper_one]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void weak_barrier_then_a_proper_one(device const float* x, device float* y,
                                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_none);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}
