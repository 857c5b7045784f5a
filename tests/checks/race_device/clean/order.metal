// Barriers and atomics that order or need no order.
#include <metal_stdlib>
using namespace metal;

//! [kernel.barrier_for_device_memory]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
//! arguments.z = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void barrier_for_device_memory(device const float* x, device float* y, device float* z,
                                      uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t] + 1.0f;
  threadgroup_barrier(mem_flags::mem_device);
  z[t] = y[63 - t];
}

//! [kernel.within_each_threadgroup]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "zeros" }
//! arguments.z = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void within_each_threadgroup(device const float* x, device float* y, device float* z,
                                    uint t [[thread_position_in_threadgroup]],
                                    uint g [[threadgroup_position_in_grid]],
                                    uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + 1.0f;
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  z[i] = y[g * 64 + 63 - t];
}

//! [kernel.histogram]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [128], fill = "iota" }
//! arguments.bins = { dtype = "uint32", shape = [8], fill = "zeros" }
kernel void histogram(device const uint* x, device atomic_uint* bins,
                      uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[x[i] & 7], 1u, memory_order_relaxed);
}

//! [kernel.append]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void append(device const float* x, device atomic_uint* count, device float* y,
                   uint i [[thread_position_in_grid]]) {
  uint slot = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
  y[slot] = x[i];
}

//! [kernel.most_with_an_atomic_test_first]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [128], fill = "iota" }
//! arguments.most = { dtype = "uint32", shape = [1], fill = "zeros" }
kernel void most_with_an_atomic_test_first(device const uint* x, device atomic_uint* most,
                                           uint i [[thread_position_in_grid]]) {
  if (x[i] > atomic_load_explicit(most, memory_order_relaxed)) {
    atomic_fetch_max_explicit(most, x[i], memory_order_relaxed);
  }
}

//! [kernel.own_element_twice]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
kernel void own_element_twice(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = y[t] + 1.0f;
}

//! [kernel.one_result_per_threadgroup]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [4], fill = "uninitialised" }
kernel void one_result_per_threadgroup(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]],
                                       uint g [[threadgroup_position_in_grid]],
                                       uint i [[thread_position_in_grid]]) {
  float sum = simd_sum(x[i]);
  if (t == 0) {
    y[g] = sum;
  }
}

//! [kernel.last_threadgroup_with_fences]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.part = { dtype = "float32", shape = [4], fill = "zeros" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void last_threadgroup_with_fences(device const float* x, device float* part,
                                         device atomic_uint* count, device float* y,
                                         uint t [[thread_position_in_threadgroup]],
                                         uint g [[threadgroup_position_in_grid]],
                                         uint i [[thread_position_in_grid]]) {
  float sum = simd_sum(x[i]);
  if (t == 0) {
    part[g] = sum;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    if (atomic_fetch_add_explicit(count, 1u, memory_order_relaxed) == 3) {
      atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
      y[0] = part[0] + part[1] + part[2] + part[3];
    }
  }
}

//! [kernel.everyone_reads_everything]
//! threads = [100]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void everyone_reads_everything(device const float* x, device float* y, constant uint& n,
                                      uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += x[k] * x[(k + i) % n];
  }
  y[i] = sum;
}
