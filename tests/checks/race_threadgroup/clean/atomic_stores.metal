// Atomic stores and updates in an order, or with no need of one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.barrier_between]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void barrier_between(device uint* y,
                            uint t [[thread_position_in_threadgroup]],
                            uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n;
  if (t == 0)
    atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0)
    y[g] = atomic_load_explicit(&n, memory_order_relaxed);
}

//! [kernel.set_again_after_each_round]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void set_again_after_each_round(device uint* y,
                                       uint t [[thread_position_in_threadgroup]],
                                       uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n;
  for (uint round = 0; round < 4; ++round) {
    if (t == 0)
      atomic_store_explicit(&n, round, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&n, t, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0)
      y[round] = atomic_load_explicit(&n, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

//! [kernel.reset_by_the_last_arrival]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void reset_by_the_last_arrival(device uint* y,
                                      uint t [[thread_position_in_threadgroup]],
                                      uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n;
  if (t == 0)
    atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed) == 127) {
    y[g] = 1;
    atomic_store_explicit(&n, 0u, memory_order_relaxed);
  }
}

//! [kernel.lock_by_exchange]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void lock_by_exchange(device uint* y,
                             uint t [[thread_position_in_threadgroup]],
                             uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint lock;
  if (t == 0)
    atomic_store_explicit(&lock, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t % 32 == 0) {
    while (atomic_exchange_explicit(&lock, 1u, memory_order_relaxed) != 0) {}
    atomic_store_explicit(&lock, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t & 3] = 1;
}

//! [kernel.same_simdgroup]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void same_simdgroup(device uint* y,
                           uint t [[thread_position_in_threadgroup]],
                           uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint n[4];
  if (t % 32 == 0)
    atomic_store_explicit(&n[t / 32], 0u, memory_order_relaxed);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n[t / 32], 1u, memory_order_relaxed);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t % 32 == 0)
    y[t / 32] = atomic_load_explicit(&n[t / 32], memory_order_relaxed);
}
