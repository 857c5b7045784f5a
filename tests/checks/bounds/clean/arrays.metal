// Threadgroup, private and constant arrays used up to their last element.
#include <metal_stdlib>
using namespace metal;

//! [kernel.halo]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void halo(device const float* x, device float* y,
                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[66];
  tile[t + 1] = x[t];
  if (t == 0) {
    tile[0] = 0.0f;
    tile[65] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t] + tile[t + 2];
}

//! [kernel.scratch_just_large_enough]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.scratch = { bytes = 256 }
kernel void scratch_just_large_enough(device const float* x, device float* y,
                                      threadgroup float* scratch [[threadgroup(0)]],
                                      uint t [[thread_position_in_threadgroup]]) {
  scratch[63 - t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = scratch[t];
}

//! [kernel.private_array]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 8
kernel void private_array(device const float* x, device float* y, constant uint& n,
                          uint i [[thread_position_in_grid]]) {
  float values[8];
  for (uint k = 0; k < n; ++k) {
    values[7 - k] = x[(i + k) & 31];
  }
  y[i] = values[i & 7];
}

//! [kernel.constant_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
constant float weights[8] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f};
kernel void constant_table(device const float* x, device float* y,
                           uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * weights[i / 4];
}

//! [kernel.two_tiles_through_one_pointer]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void two_tiles_through_one_pointer(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float left[64];
  threadgroup float right[64];
  left[t] = x[t];
  right[t] = -x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup const float* from = t & 1 ? left : right;
  y[t] = from[63 - t];
}
