// Barriers under conditions that all threads of a threadgroup share.
#include <metal_stdlib>
using namespace metal;

//! [kernel.branch_on_an_argument]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.n = 5
kernel void branch_on_an_argument(device const float* x, device float* y, constant uint& n,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float value = x[t];
  if (n > 3) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = tile[63 - t];
  }
  y[t] = value;
}

//! [kernel.loop_to_an_argument]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.n = 5
kernel void loop_to_an_argument(device const float* x, device float* y, constant uint& n,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float value = x[t];
  for (uint k = 0; k < n; ++k) {
    tile[t] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value += tile[(t + 1) & 63];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = value;
}

//! [kernel.trip_count_of_the_threadgroup]
//! threadgroups = [3]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [192], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [192], fill = "uninitialised" }
kernel void trip_count_of_the_threadgroup(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]],
                                          uint g [[threadgroup_position_in_grid]],
                                          uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  float value = x[i];
  for (uint k = 0; k < g; ++k) {
    tile[t] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value += tile[63 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i] = value;
}

//! [kernel.whole_threadgroups_return]
//! threadgroups = [4]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void whole_threadgroups_return(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]],
                                      uint g [[threadgroup_position_in_grid]],
                                      uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  if (g & 1) {
    y[i] = 0.0f;
    return;
  }
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[63 - t];
}

//! [kernel.condition_true_for_every_lane]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void condition_true_for_every_lane(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  float value = 0;
  if (x[t] >= 0.0f) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = tile[63 - t];
  }
  y[t] = value;
}

//! [kernel.switch_on_an_argument]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.n = 1
kernel void switch_on_an_argument(device const float* x, device float* y, constant uint& n,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  switch (n) {
    case 0: y[t] = 1.0f; break;
    case 1: threadgroup_barrier(mem_flags::mem_threadgroup); y[t] = tile[63 - t]; break;
    default: threadgroup_barrier(mem_flags::mem_threadgroup); y[t] = tile[t ^ 32]; break;
  }
}

//! [kernel.branch_on_a_function_constant]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! constants.0 = true
constant bool use_tile [[function_constant(0)]];
kernel void branch_on_a_function_constant(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (use_tile) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = tile[63 - t];
  } else {
    y[t] = x[t];
  }
}

//! [kernel.barriers_in_a_template]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
template <int Steps>
static float steps(threadgroup float* tile, float value, uint t) {
  for (int k = 0; k < Steps; ++k) {
    tile[t] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value += tile[63 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  return value;
}
kernel void barriers_in_a_template(device const float* x, device float* y,
                                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  y[t] = steps<3>(tile, x[t], t) + steps<2>(tile, 1.0f, t);
}
