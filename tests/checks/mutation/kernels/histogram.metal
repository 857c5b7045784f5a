// Histogram by atomics in threadgroup memory, then in device memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [128], fill = "random" }
//! arguments.bins = { dtype = "uint32", shape = [16], fill = "zeros" }
//! arguments.n = 120
kernel void histogram(device const uint* x, device atomic_uint* bins, constant uint& n,
                      uint t [[thread_position_in_threadgroup]],
                      uint i [[thread_position_in_grid]]) {
  threadgroup atomic_uint local[16];
  if (t < 16) {
    atomic_store_explicit(&local[t], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) {
    uint bin = (x[i] * 7) & 15;
    atomic_fetch_add_explicit(&local[bin], 1u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 16) {
    uint count = atomic_load_explicit(&local[t], memory_order_relaxed);
    atomic_fetch_add_explicit(&bins[t], count, memory_order_relaxed);
  }
}
