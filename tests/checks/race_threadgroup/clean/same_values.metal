// Several simdgroups write the same value, or only one of them writes.
#include <metal_stdlib>
using namespace metal;

//! [kernel.any_flag]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [1], fill = "uninitialised" }
kernel void any_flag(device const float* x, device uint* y,
                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint found;
  if (t == 0) {
    found = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (x[t] > 3.0f) {
    found = 1;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    y[0] = found;
  }
}

//! [kernel.halo_loaded_twice]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [66], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void halo_loaded_twice(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[66];
  tile[t] = x[t];
  tile[t + 1] = x[t + 1];
  tile[t + 2] = x[t + 2];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

//! [kernel.all_write_the_parameter]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void all_write_the_parameter(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float scale;
  scale = x[1] + 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = x[t] * scale;
}

//! [kernel.one_thread_after_a_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void one_thread_after_a_barrier(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  threadgroup float total;
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 63) {
    float sum = 0;
    for (uint k = 0; k < 64; ++k) {
      sum += tile[k];
    }
    total = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = x[t] / total;
}

//! [kernel.member_neighbours]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void member_neighbours(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  struct Shared {
    float low;
    float high;
  };
  threadgroup Shared limits;
  if (t == 0) {
    limits.low = x[0];
  }
  if (t == 32) {
    limits.high = x[63];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = clamp(x[t], limits.low, limits.high);
}
