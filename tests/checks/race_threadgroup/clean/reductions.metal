// Reductions and scans whose order is right.
#include <metal_stdlib>
using namespace metal;

//! [kernel.lock_step_tail]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void lock_step_tail(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sum[128];
  sum[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 64) {
    sum[t] += sum[t + 64];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 32) {
    sum[t] += sum[t + 32];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint s = 16; s > 0; s >>= 1) {
      if (t < s) {
        sum[t] += sum[t + s];
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
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
    partial[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (sg == 0) {
    float total = simd_sum(lane < 4 ? partial[lane] : 0.0f);
    if (lane == 0) {
      y[0] = total;
    }
  }
}

//! [kernel.scan_in_two_buffers]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void scan_in_two_buffers(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float scan[2][64];
  scan[0][t] = x[t];
  uint from = 0;
  for (uint d = 1; d < 64; d <<= 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    scan[1 - from][t] = scan[from][t] + (t >= d ? scan[from][t - d] : 0.0f);
    from = 1 - from;
  }
  y[t] = scan[from][t];
}

//! [kernel.softmax_with_barrier_between_reductions]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void softmax_with_barrier_between_reductions(device const float* x, device float* y,
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
  float most = max(max(scratch[0], scratch[1]), max(scratch[2], scratch[3]));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  value = exp(value - most);
  part = simd_sum(value);
  if (lane == 0) {
    scratch[sg] = part;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = value / (scratch[0] + scratch[1] + scratch[2] + scratch[3]);
}

//! [kernel.bitonic]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "int32", shape = [64], fill = "random" }
//! arguments.y = { dtype = "int32", shape = [64], fill = "uninitialised" }
kernel void bitonic(device const int* x, device int* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup int keys[64];
  keys[t] = x[63 - t];
  for (uint size = 2; size <= 64; size <<= 1) {
    for (uint step = size >> 1; step > 0; step >>= 1) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      uint other = t ^ step;
      if (other > t) {
        int mine = keys[t], theirs = keys[other];
        if ((mine > theirs) == ((t & size) == 0)) {
          keys[t] = theirs;
          keys[other] = mine;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = keys[t];
}
