// Atomics in device memory that one threadgroup stores and others update.
#include <metal_stdlib>
using namespace metal;

//! [kernel.set_by_the_first_threadgroup]
//! threadgroups = [3]
//! threadgroup = [128]
//! arguments.count = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void set_by_the_first_threadgroup(device atomic_uint* count,
                                         uint t [[thread_position_in_threadgroup]],
                                         uint g [[threadgroup_position_in_grid]]) {
  if (t == 0 && g == 0)
    atomic_store_explicit(count, 0u, memory_order_relaxed); // WITH
  threadgroup_barrier(mem_flags::mem_device);
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed); // BUG race-write-write
}

//! [kernel.set_by_every_threadgroup]
//! threadgroups = [2]
//! threadgroup = [128]
//! arguments.count = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void set_by_every_threadgroup(device atomic_uint* count,
                                     uint t [[thread_position_in_threadgroup]],
                                     uint g [[threadgroup_position_in_grid]]) {
  if (t == 0)
    atomic_store_explicit(count, 0u, memory_order_relaxed); // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_device);
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
}

//! [kernel.no_barrier_in_one_threadgroup]
//! threadgroups = [1]
//! threadgroup = [128]
//! arguments.count = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void no_barrier_in_one_threadgroup(device atomic_uint* count,
                                          uint t [[thread_position_in_threadgroup]],
                                          uint g [[threadgroup_position_in_grid]]) {
  if (t < 4)
    atomic_store_explicit(&count[t], 0u, memory_order_relaxed); // WITH
  atomic_fetch_add_explicit(&count[t & 3], t, memory_order_relaxed); // BUG race-write-write
}
