// Threadgroups of one dispatch share device memory without order.
#include <metal_stdlib>
using namespace metal;

//! [kernel.all_write_one]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint32", shape = [1], fill = "uninitialised" }
kernel void all_write_one(device uint* y, uint t [[thread_position_in_threadgroup]],
                          uint g [[threadgroup_position_in_grid]]) {
  if (t == 0) {
    y[0] = g; // BUG race-write-write
  }
}

//! [kernel.sum_of_other_threadgroups]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.part = { dtype = "float32", shape = [2], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void sum_of_other_threadgroups(device const float* x, device float* part, device float* y,
                                      uint t [[thread_position_in_threadgroup]],
                                      uint g [[threadgroup_position_in_grid]],
                                      uint i [[thread_position_in_grid]]) {
  float sum = simd_sum(x[i]);
  if (t == 0) {
    part[g] = sum; // WITH
  }
  if (g == 1 && t == 0) {
    y[0] = part[0] + part[1]; // BUG race-read-write
  }
}

//! [kernel.barrier_does_not_reach_other_threadgroups]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.part = { dtype = "float32", shape = [2], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void barrier_does_not_reach_other_threadgroups(device const float* x, device float* part,
                                                      device float* y,
                                                      uint t [[thread_position_in_threadgroup]],
                                                      uint g [[threadgroup_position_in_grid]],
                                                      uint i [[thread_position_in_grid]]) {
  float sum = simd_sum(x[i]);
  if (t == 0) {
    part[g] = sum; // WITH
  }
  threadgroup_barrier(mem_flags::mem_device);
  if (g == 1 && t == 0) {
    y[0] = part[0] + part[1]; // BUG race-read-write
  }
}

//! [kernel.smooth_in_place]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [130], fill = "random" }
kernel void smooth_in_place(device float* x, uint i [[thread_position_in_grid]]) {
  float left = x[i];      // WITH
  float right = x[i + 2]; // MAYBE race-read-write
  x[i + 1] = 0.5f * (left + right); // BUG race-read-write
}

//! [kernel.add_the_neighbour_in_place]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [129], fill = "iota" }
kernel void add_the_neighbour_in_place(device float* x, uint i [[thread_position_in_grid]]) {
  float own = x[i];
  float right = x[i + 1]; // WITH
  x[i] = own + right;     // BUG race-read-write
}

//! [kernel.reverse_in_place]
//! threads = [128]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
kernel void reverse_in_place(device float* x, uint i [[thread_position_in_grid]]) {
  float value = x[127 - i]; // WITH
  x[i] = value; // BUG race-read-write
}

//! [kernel.transpose_in_place]
//! threads = [16, 16]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
kernel void transpose_in_place(device float* x, uint2 i [[thread_position_in_grid]]) {
  float value = x[i.x * 16 + i.y]; // WITH
  x[i.y * 16 + i.x] = value; // BUG race-read-write
}

//! [kernel.scratch_shared_by_threadgroups]
//! threadgroups = [3]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [96], fill = "iota" }
//! arguments.scratch = { dtype = "float32", shape = [32], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [96], fill = "uninitialised" }
kernel void scratch_shared_by_threadgroups(device const float* x, device float* scratch,
                                           device float* y,
                                           uint t [[thread_position_in_threadgroup]],
                                           uint i [[thread_position_in_grid]]) {
  scratch[t] = x[i]; // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_device);
  y[i] = scratch[31 - t]; // BUG race-read-write
}
