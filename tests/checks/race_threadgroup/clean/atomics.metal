// Atomics and plain accesses, each in its own phase.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void histogram(device const uint* x, device uint* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[4];
  if (t < 4) {
    atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[x[t] & 3], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
  }
}

//! [kernel.histogram_with_plain_phases]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void histogram_with_plain_phases(device const uint* x, device uint* y,
                                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint bins[4];
  if (t < 4) {
    bins[t] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit((threadgroup atomic_uint*)&bins[x[t] & 3], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = bins[t];
  }
}

//! [kernel.tickets]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void tickets(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint next;
  threadgroup float kept[64];
  if (t == 0) {
    atomic_store_explicit(&next, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint slot = atomic_fetch_add_explicit(&next, 1u, memory_order_relaxed);
  kept[slot] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = kept[t] * 0.0f;
}

//! [kernel.most_by_atomic_max]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void most_by_atomic_max(device const uint* x, device uint* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint most;
  if (t == 0) {
    atomic_store_explicit(&most, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (x[t] > atomic_load_explicit(&most, memory_order_relaxed)) {
    atomic_fetch_max_explicit(&most, x[t], memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&most, memory_order_relaxed);
}
