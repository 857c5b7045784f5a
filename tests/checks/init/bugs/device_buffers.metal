// Fresh device memory that is read before it is written.
#include <metal_stdlib>
using namespace metal;

//! [kernel.added_to_fresh_output]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void added_to_fresh_output(device const float* x, device float* y,
                                  uint i [[thread_position_in_grid]]) {
  y[i] += x[i]; // BUG uninitialised-read
}

//! [kernel.fresh_scratch]
//! threads = [64]
//! threadgroup = [32]
//! arguments.scratch = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void fresh_scratch(device float* scratch, device float* y,
                          uint i [[thread_position_in_grid]]) {
  y[i] = scratch[i] * 2.0f; // BUG uninitialised-read
}

//! [kernel.fresh_bins]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.bins = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void fresh_bins(device const uint* x, device atomic_uint* bins,
                       uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[x[i] & 3], 1u, memory_order_relaxed); // BUG uninitialised-read
}

//! [kernel.compared_with_fresh_memory]
//! threads = [64]
//! threadgroup = [32]
//! arguments.best = { dtype = "float32", shape = [1], fill = "uninitialised" }
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void compared_with_fresh_memory(device const float* best, device const float* x,
                                       device float* y, uint i [[thread_position_in_grid]]) {
  if (x[i] > best[0]) { // BUG uninitialised-read
    y[i] = 1.0f;
  } else {
    y[i] = 0.0f;
  }
}

//! [kernel.scratch_partly_written]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.scratch = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void scratch_partly_written(device const float* x, device float* scratch, device float* y,
                                   uint t [[thread_position_in_threadgroup]]) {
  if (t < 60) {
    scratch[t] = x[t];
  }
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = scratch[63 - t]; // BUG uninitialised-read
}

//! [kernel.fresh_indices]
//! threads = [64]
//! threadgroup = [32]
//! arguments.index = { dtype = "uint32", shape = [64], fill = "uninitialised" }
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void fresh_indices(device const uint* index, device const float* x, device float* y,
                          uint i [[thread_position_in_grid]]) {
  y[i] = x[index[i] & 63]; // BUG uninitialised-read
}
