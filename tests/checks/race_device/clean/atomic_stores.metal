// Atomics of device memory that are stored and updated in an order.
#include <metal_stdlib>
using namespace metal;

//! [kernel.last_threadgroup_resets]
//! threadgroups = [4]
//! threadgroup = [64]
//! arguments.count = { dtype = "uint32", shape = [4], fill = "zeros" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void last_threadgroup_resets(device atomic_uint* count, device uint* y,
                                    uint t [[thread_position_in_threadgroup]],
                                    uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint is_last;
  if (t == 0)
    is_last = atomic_fetch_add_explicit(count, 1u, memory_order_relaxed) == 3;
  threadgroup_barrier(mem_flags::mem_device_and_threadgroup);
  if (is_last != 0 && t == 40) {
    y[0] = 1;
    atomic_store_explicit(count, 0u, memory_order_relaxed);
  }
}

//! [kernel.counter_of_each_threadgroup]
//! threadgroups = [4]
//! threadgroup = [64]
//! arguments.count = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void counter_of_each_threadgroup(device atomic_uint* count,
                                        uint t [[thread_position_in_threadgroup]],
                                        uint g [[threadgroup_position_in_grid]]) {
  if (t == 0)
    atomic_store_explicit(&count[g], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device);
  atomic_fetch_add_explicit(&count[g], t, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device);
  atomic_fetch_max_explicit(&count[g], 5u, memory_order_relaxed);
}

//! [kernel.loaded_by_an_update]
//! threadgroups = [3]
//! threadgroup = [64]
//! arguments.count = { dtype = "uint32", shape = [4], fill = "zeros" }
kernel void loaded_by_an_update(device atomic_uint* count,
                                 uint t [[thread_position_in_threadgroup]],
                                 uint g [[threadgroup_position_in_grid]]) {
  if (t == 0)
    atomic_store_explicit(&count[g], g + 1, memory_order_relaxed);
  if (t == 1 && g > 0 && atomic_fetch_or_explicit(&count[g - 1], 0u, memory_order_relaxed) > g)
    count[0] = 0;
}
