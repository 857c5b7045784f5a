// Reductions whose last steps rely on lock step.
#include <metal_stdlib>
using namespace metal;

//! [kernel.tree]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void tree(device const float* x, device float* y,
                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sum[32];
  sum[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 16; s > 0; s >>= 1) {
    if (t < s) {
      sum[t] += sum[t + s]; // BUG lane-race
    }
  }
  if (t == 0) {
    y[0] = sum[0];
  }
}

//! [kernel.tail_of_a_larger_tree]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void tail_of_a_larger_tree(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sum[64];
  sum[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 32) {
    sum[t] += sum[t + 32]; // MAYBE lane-race
    sum[t] += sum[t + 16]; // BUG lane-race
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    float total = 0;
    for (uint k = 0; k < 16; ++k) {
      total += sum[k];
    }
    y[0] = total;
  }
}

//! [kernel.scan]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void scan(device const float* x, device float* y,
                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float scan[32];
  scan[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint d = 1; d < 32; d <<= 1) {
    float left = t >= d ? scan[t - d] : 0.0f; // MAYBE lane-race
    scan[t] += left;                          // BUG lane-race
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = scan[t];
}

//! [kernel.collected_by_lane_0]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void collected_by_lane_0(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float parts[32];
  parts[t] = x[t] * x[t]; // WITH
  if (t == 0) {
    float total = 0;
    for (uint k = 0; k < 32; ++k) {
      total += parts[k]; // BUG lane-race
    }
    y[0] = total;
  }
}

//! [kernel.sorting_steps]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "random" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void sorting_steps(device const int* x, device int* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup int keys[32];
  keys[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k) {
    uint low = 2 * (t & 15) + (k & 1);
    if (t < 16 && low < 31) {
      int a = keys[low], b = keys[low + 1]; // WITH
      keys[low] = min(a, b);     // BUG lane-race
      keys[low + 1] = max(a, b); // BUG lane-race
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = keys[t];
}
