// Reductions that lack a barrier somewhere.
#include <metal_stdlib>
using namespace metal;

//! [kernel.barrier_before_loop_only]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void barrier_before_loop_only(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sum[128];
  sum[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 64; s > 0; s >>= 1) {
    if (t < s) {
      sum[t] += sum[t + s]; // BUG race-read-write
    }
  }
  if (t == 0) {
    y[0] = sum[0];
  }
}

//! [kernel.partial_sums]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void partial_sums(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[4];
  float sum = simd_sum(x[t]);
  if (lane == 0) {
    partial[sg] = sum; // WITH
  }
  if (sg == 0) {
    float total = simd_sum(lane < 4 ? partial[lane] : 0.0f); // BUG race-read-write
    if (lane == 0) {
      y[0] = total;
    }
  }
}

//! [kernel.scratch_reused_for_second_reduction]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void scratch_reused_for_second_reduction(device const float* x, device float* y,
                                                uint t [[thread_position_in_threadgroup]],
                                                uint lane [[thread_index_in_simdgroup]],
                                                uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float scratch[4];
  float value = x[t];
  float part = simd_max(value);
  if (lane == 0) {
    scratch[sg] = part;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float most = max(max(scratch[0], scratch[1]), max(scratch[2], scratch[3])); // WITH
  value = exp(value - most);
  part = simd_sum(value);
  if (lane == 0) {
    scratch[sg] = part; // BUG race-read-write
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = value / (scratch[0] + scratch[1] + scratch[2] + scratch[3]);
}

//! [kernel.warp_synchronous_tail_too_early]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void warp_synchronous_tail_too_early(device const float* x, device float* y,
                                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sum[128];
  sum[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 64) {
    sum[t] += sum[t + 64]; // WITH
  }
  if (t < 32) {
    sum[t] += sum[t + 32]; // BUG race-read-write
    float total = simd_sum(sum[t]);
    if (t == 0) {
      y[0] = total;
    }
  }
}

//! [kernel.scan_in_one_buffer]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void scan_in_one_buffer(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float scan[64];
  scan[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint d = 1; d < 64; d <<= 1) {
    float left = t >= d ? scan[t - d] : 0.0f; // WITH
    scan[t] += left;                          // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = scan[t];
}

//! [kernel.result_read_without_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void result_read_without_barrier(device const float* x, device float* y,
                                        uint t [[thread_position_in_threadgroup]],
                                        uint lane [[thread_index_in_simdgroup]],
                                        uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[2];
  threadgroup float total;
  float sum = simd_sum(x[t]);
  if (lane == 0) {
    parts[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    total = parts[0] + parts[1]; // WITH
  }
  y[t] = x[t] / total; // BUG race-read-write
}
