// Barriers under conditions that differ between the threads of a threadgroup.
#include <metal_stdlib>
using namespace metal;

//! [kernel.lanes_under_a_branch]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void lanes_under_a_branch(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (t & 1) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  }
  y[t] = tile[t];
}

//! [kernel.simdgroups_under_a_branch]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void simdgroups_under_a_branch(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (t < 32) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  }
  y[t] = tile[t];
} // WITH

//! [kernel.lanes_in_both_arms]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void lanes_in_both_arms(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (t % 3 == 0) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // MAYBE barrier-divergence
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  }
  y[t] = tile[63 - t];
}

//! [kernel.simdgroups_in_both_arms]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void simdgroups_in_both_arms(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]],
                                    uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (sg == 0) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup); // WITH
  }
  y[t] = tile[63 - t];
}

//! [kernel.condition_from_data]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void condition_from_data(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (x[t] > 10.0f) { // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  }
  y[t] = tile[63 - t];
}

//! [kernel.cases_of_a_switch]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "int32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [64], fill = "uninitialised" }
kernel void cases_of_a_switch(device const int* x, device int* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup int tile[64];
  tile[t] = x[t];
  switch (x[t] & 3) { // WITH
    case 0:
      y[t] = 1;
      break;
    case 1:
      threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
      y[t] = tile[63 - t];
      break;
    default:
      y[t] = 2;
      break;
  }
}

//! [kernel.nested_branches]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.n = 32
kernel void nested_branches(device const float* x, device float* y, constant uint& n,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (n > 10) { // WITH
    if (t < n) { // WITH
      threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
    }
  }
  y[t] = tile[t];
} // WITH

//! [kernel.barrier_inside_a_helper]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
static void exchange(threadgroup float* tile, thread float& value, uint t) {
  tile[t] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  value = tile[63 - t];
}
kernel void barrier_inside_a_helper(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = 0;
  float value = x[t];
  if (value < 40.0f) { // WITH
    exchange(tile, value, t);
  }
  y[t] = value;
} // WITH

//! [kernel.simdgroup_barrier_for_some_lanes]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void simdgroup_barrier_for_some_lanes(device const float* x, device float* y,
                                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (t & 1) { // WITH
    simdgroup_barrier(mem_flags::mem_threadgroup); // BUG barrier-divergence
  }
  y[t] = tile[t];
}
