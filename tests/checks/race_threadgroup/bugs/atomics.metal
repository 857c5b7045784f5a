// Atomic stores and updates without an order: what was added before the store is lost.
#include <metal_stdlib>
using namespace metal;

//! [kernel.counter_set_too_late]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void counter_set_too_late(device uint* y,
                                 uint t [[thread_position_in_threadgroup]],
                                 uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n;
  if (t == 0)
    atomic_store_explicit(&n, 0u, memory_order_relaxed); // WITH
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed); // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0)
    y[g] = atomic_load_explicit(&n, memory_order_relaxed);
}

//! [kernel.set_by_the_last_simdgroup]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void set_by_the_last_simdgroup(device uint* y,
                                      uint t [[thread_position_in_threadgroup]],
                                      uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n;
  if (t == 0)
    atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 96)
    atomic_fetch_or_explicit(&n, 1u << (t & 31), memory_order_relaxed); // WITH
  if (t == 127)
    atomic_store_explicit(&n, 0u, memory_order_relaxed); // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0)
    y[g] = atomic_load_explicit(&n, memory_order_relaxed);
}

//! [kernel.bins_of_a_histogram]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void bins_of_a_histogram(device uint* y,
                                uint t [[thread_position_in_threadgroup]],
                                uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint bins[64];
  if (t < 64)
    atomic_store_explicit(&bins[t], 0u, memory_order_relaxed); // WITH
  atomic_fetch_add_explicit(&bins[t * 7 & 63], 1u, memory_order_relaxed); // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4)
    y[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
}

//! [kernel.largest_of_all]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void largest_of_all(device uint* y,
                           uint t [[thread_position_in_threadgroup]],
                           uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint most;
  if (t == 64)
    atomic_store_explicit(&most, 0u, memory_order_relaxed); // WITH
  if (t >= 64)
    atomic_fetch_max_explicit(&most, t, memory_order_relaxed); // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0)
    y[g] = atomic_load_explicit(&most, memory_order_relaxed);
}
