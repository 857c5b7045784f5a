// Lanes exchange values in the way the language asks for.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reverse]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void reverse(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  tile[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[31 - t];
}

//! [kernel.reverse_with_the_stronger_barrier]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void reverse_with_the_stronger_barrier(device const float* x, device float* y,
                                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[31 - t];
}

//! [kernel.two_barriers_per_iteration]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void two_barriers_per_iteration(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  float sum = 0;
  for (uint k = 0; k < 2; ++k) {
    tile[t] = x[k * 32 + t];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[31 - t];
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = sum;
}

//! [kernel.double_buffer]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void double_buffer(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][32];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[k & 1][t] = x[k * 32 + t];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[k & 1][31 - t];
  }
  y[t] = sum;
}

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
      sum[t] += sum[t + s];
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) {
    y[0] = sum[0];
  }
}

//! [kernel.through_device_memory]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.scratch = { dtype = "float32", shape = [32], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void through_device_memory(device const float* x, device float* scratch, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  scratch[t] = x[t];
  simdgroup_barrier(mem_flags::mem_device);
  y[t] = scratch[31 - t];
}

//! [kernel.elements_of_a_matrix]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void elements_of_a_matrix(device const float* a, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  simdgroup_store(m, tile, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}

//! [kernel.matrix_from_a_tile]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void matrix_from_a_tile(device const float* a, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = a[t];
  tile[t + 32] = a[t + 32];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);
  simdgroup_store(m, y, 8);
}

//! [kernel.barrier_of_a_threadgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void barrier_of_a_threadgroup(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  simdgroup_barrier(mem_flags::mem_none);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.barrier_without_flags_and_without_exchange]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void barrier_without_flags_and_without_exchange(device const float* x, device float* y,
                                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  tile[t] = x[t];
  simdgroup_barrier(mem_flags::mem_none);
  y[t] = tile[t];
}
