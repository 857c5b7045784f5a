// Threads part between barriers and meet again.
#include <metal_stdlib>
using namespace metal;

//! [kernel.guards_around_the_work]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void guards_around_the_work(device const float* x, device float* y, constant uint& n,
                                   uint t [[thread_position_in_threadgroup]],
                                   uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  tile[t] = i < n ? x[i] : 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) {
    y[i] = tile[63 - t];
  }
}

//! [kernel.smaller_edge_threadgroup]
//! threads = [100]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
kernel void smaller_edge_threadgroup(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]],
                                     uint i [[thread_position_in_grid]],
                                     uint size [[threads_per_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[size - 1 - t];
}

//! [kernel.lane_loops_before_the_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void lane_loops_before_the_barrier(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint k = 0; k < t % 7; ++k) {
    sum += x[k];
  }
  tile[t] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.return_after_the_last_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void return_after_the_last_barrier(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = 0.0f;
  if (t & 1) {
    return;
  }
  y[t] = tile[63 - t];
}

//! [kernel.simdgroups_leave_after_the_last_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void simdgroups_leave_after_the_last_barrier(device const float* x, device float* y,
                                                    uint t [[thread_position_in_threadgroup]],
                                                    uint lane [[thread_index_in_simdgroup]],
                                                    uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[2];
  float sum = simd_sum(x[t]);
  if (lane == 0) {
    parts[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sg != 0) {
    return;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) {
    y[0] = parts[0] + parts[1];
  }
}

//! [kernel.break_and_continue_in_an_inner_loop]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void break_and_continue_in_an_inner_loop(device const float* x, device float* y,
                                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float value = x[t];
  for (uint k = 0; k < 3; ++k) {
    for (uint j = 0; j < 10; ++j) {
      if (j > t) {
        break;
      }
      if (j & 1) {
        continue;
      }
      value += 1.0f;
    }
    tile[t] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = tile[63 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = value;
}

//! [kernel.helper_returns_early]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
static float capped(float value) {
  if (value > 30.0f) {
    return 30.0f;
  }
  return value * 2.0f;
}
kernel void helper_returns_early(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = capped(x[t]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.simdgroup_barriers_of_one_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void simdgroup_barriers_of_one_simdgroup(device const float* x, device float* y,
                                                uint t [[thread_position_in_threadgroup]],
                                                uint lane [[thread_index_in_simdgroup]],
                                                uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  if (sg == 0) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    tile[lane] = tile[31 - lane];
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.arms_of_a_branch_and_a_barrier_after_both]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void arms_of_a_branch_and_a_barrier_after_both(device const float* x, device float* y,
                                                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  if (t & 1) {
    tile[t] = x[t];
  } else {
    tile[t] = -x[t];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.one_thread]
//! threads = [1]
//! threadgroup = [1]
//! arguments.x = { dtype = "float32", shape = [1], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void one_thread(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[1];
  tile[t] = x[t];
  if (t == 0) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = tile[0];
}
