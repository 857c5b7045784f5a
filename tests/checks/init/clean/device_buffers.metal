// Fresh device memory that is written before it is read.
#include <metal_stdlib>
using namespace metal;

//! [kernel.set_then_added_to]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void set_then_added_to(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  y[i] = 0.0f;
  y[i] += x[i];
}

//! [kernel.scratch_written_first]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.scratch = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void scratch_written_first(device const float* x, device float* scratch, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  scratch[t] = x[t];
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = scratch[63 - t];
}

//! [kernel.fresh_value_masked]
//! threads = [64]
//! threadgroup = [32]
//! arguments.scratch = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void fresh_value_masked(device const float* scratch, device const float* x,
                               device float* y, uint i [[thread_position_in_grid]]) {
  float value = scratch[i];
  bool use = x[i] > 1000.0f;
  y[i] = use ? value : x[i];
}

//! [kernel.bins_cleared_first]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.bins = { dtype = "uint32", shape = [4], fill = "uninitialised" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void bins_cleared_first(device const uint* x, device atomic_uint* bins, device uint* y,
                               uint t [[thread_position_in_threadgroup]]) {
  if (t < 4) {
    atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_device);
  atomic_fetch_add_explicit(&bins[x[t] & 3], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device);
  if (t < 4) {
    y[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
  }
}

//! [kernel.end_of_output_left_alone]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
kernel void end_of_output_left_alone(device const float* x, device float* y,
                                     uint i [[thread_position_in_grid]]) {
  y[i] = x[i];
}

//! [kernel.exchanged_before_use]
//! threads = [64]
//! threadgroup = [32]
//! arguments.old = { dtype = "uint32", shape = [1], fill = "uninitialised" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void exchanged_before_use(device atomic_uint* old, device uint* y,
                                 uint i [[thread_position_in_grid]]) {
  if (i == 0) {
    atomic_store_explicit(old, 5u, memory_order_relaxed);
    y[0] = atomic_exchange_explicit(old, 6u, memory_order_relaxed);
  } else {
    y[i] = i;
  }
}
