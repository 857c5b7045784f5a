// Simdgroups of one threadgroup exchange values through device memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.no_barrier]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
//! arguments.z = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void no_barrier(device const float* x, device float* y, device float* z,
                       uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t] + 1.0f; // WITH
  z[t] = y[63 - t];   // BUG race-read-write
}

//! [kernel.barrier_for_threadgroup_memory_only]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
//! arguments.z = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void barrier_for_threadgroup_memory_only(device const float* x, device float* y,
                                                device float* z,
                                                uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t] + 1.0f; // WITH
  threadgroup_barrier(mem_flags::mem_threadgroup);
  z[t] = y[63 - t]; // BUG weak-memory-flags
}

//! [kernel.barrier_without_flags]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
//! arguments.z = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void barrier_without_flags(device const float* x, device float* y, device float* z,
                                  uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t] + 1.0f; // WITH
  threadgroup_barrier(mem_flags::mem_none);
  z[t] = y[63 - t]; // BUG weak-memory-flags
}

//! [kernel.partial_sums_in_device_memory]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.sums = { dtype = "float32", shape = [2], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void partial_sums_in_device_memory(device const float* x, device float* sums,
                                          device float* y,
                                          uint t [[thread_position_in_threadgroup]],
                                          uint lane [[thread_index_in_simdgroup]],
                                          uint sg [[simdgroup_index_in_threadgroup]]) {
  float sum = simd_sum(x[t]);
  if (lane == 0) {
    sums[sg] = sum; // WITH
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = sums[0] + sums[1]; // BUG weak-memory-flags
}

//! [kernel.passes_with_weak_barriers]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
kernel void passes_with_weak_barriers(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t];
  for (uint d = 32; d < 64; d <<= 1) {
    threadgroup_barrier(mem_flags::mem_device);
    float other = y[t ^ d]; // WITH
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = other * 2.0f; // BUG weak-memory-flags
  }
}

//! [kernel.last_threadgroup_without_fence]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.part = { dtype = "float32", shape = [4], fill = "zeros" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void last_threadgroup_without_fence(device const float* x, device float* part,
                                           device atomic_uint* count, device float* y,
                                            uint t [[thread_position_in_threadgroup]],
                                           uint g [[threadgroup_position_in_grid]],
                                           uint i [[thread_position_in_grid]]) {
  float sum = simd_sum(x[i]);
  if (t == 0) {
    part[g] = sum; // WITH
    if (atomic_fetch_add_explicit(count, 1u, memory_order_relaxed) == 3) {
      y[0] = part[0] + part[1] + part[2] + part[3]; // BUG race-read-write
    }
  }
}
