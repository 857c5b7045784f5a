// What was never written is loaded but does not decide anything.
#include <metal_stdlib>
using namespace metal;

//! [kernel.padding_masked_by_select]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.n = 100
kernel void padding_masked_by_select(device const float* x, device float* y, constant uint& n,
                                     uint t [[thread_position_in_threadgroup]],
                                     uint i [[thread_position_in_grid]],
                                     uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  if (i < n) {
    tile[t] = x[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float value = tile[63 - t];
  y[i] = select(0.0f, value, g * 64 + 63 - t < n);
}

//! [kernel.loaded_but_not_used]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void loaded_but_not_used(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[66];
  tile[t + 1] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float left = tile[t];
  float right = tile[t + 2];
  y[t] = t == 0 ? right : t == 63 ? left : left + right;
}

//! [kernel.only_lanes_that_have_a_value]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void only_lanes_that_have_a_value(device const float* x, device float* y,
                                         uint t [[thread_position_in_threadgroup]]) {
  float value;
  if (t & 1) {
    value = x[t];
  }
  if (t & 1) {
    y[t] = value;
  } else {
    y[t] = 0.0f;
  }
}

//! [kernel.low_half_of_a_word]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint16", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void low_half_of_a_word(device const ushort* x, device uint* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint words[64];
  ((threadgroup ushort*)words)[t * 2] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = words[63 - t] & 0xffffu;
}

//! [kernel.zero_beyond_the_end]
//! threads = [48]
//! threadgroup = [48]
//! arguments.x = { dtype = "float32", shape = [40], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
//! arguments.n = 40
kernel void zero_beyond_the_end(device const float* x, device float* y, constant uint& n,
                                uint i [[thread_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]],
                                uint sg [[simdgroup_index_in_threadgroup]]) {
  float value = 0;
  if (i < n) {
    value = x[i];
  }
  float sum = simd_sum(value);
  if (lane == 0) {
    y[sg] = sum;
  }
}

//! [kernel.value_of_other_lanes_not_used]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void value_of_other_lanes_not_used(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]],
                                          uint lane [[thread_index_in_simdgroup]]) {
  float value;
  if (lane < 16) {
    value = x[t];
  }
  float other = simd_shuffle(value, lane & 15);
  y[t] = other;
}
