// Several simdgroups write one place, or count without atomics.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram_without_atomics]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void histogram_without_atomics(device const uint* x, device uint* y,
                                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint bins[4];
  if (t < 4) {
    bins[t] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  bins[x[t] & 3] += 1; // BUG race-read-write|race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = bins[t];
  }
}

//! [kernel.last_writer]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void last_writer(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float last;
  if ((t & 31) == 5) {
    last = x[t]; // BUG race-write-write
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    y[0] = last;
  }
}

//! [kernel.overlapping_chunks]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [65], fill = "uninitialised" }
kernel void overlapping_chunks(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]],
                               uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float chunk[65];
  chunk[sg * 32 + lane] = x[t]; // BUG race-write-write
  if (lane == 31) {
    chunk[sg * 32 + 32] = -1.0f; // BUG race-write-write
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = chunk[t];
}

//! [kernel.bins_zeroed_late]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void bins_zeroed_late(device const uint* x, device uint* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[4];
  if (t < 4) {
    atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    ((threadgroup uint*)bins)[t] = 0; // BUG race-read-write|race-write-write
  }
  atomic_fetch_add_explicit(&bins[x[t] & 3], 1u, memory_order_relaxed); // BUG race-read-write|race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
  }
}

//! [kernel.bins_read_plainly]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void bins_read_plainly(device const uint* x, device uint* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint count;
  if (t == 0) {
    atomic_store_explicit(&count, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, x[t] & 1, memory_order_relaxed); // WITH
  y[t] = *(threadgroup uint*)&count;                                 // BUG race-read-write
}

//! [kernel.relaxed_flag_orders_nothing]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void relaxed_flag_orders_nothing(device const float* x, device float* y,
                                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float value;
  threadgroup atomic_uint ready;
  if (t == 0) {
    atomic_store_explicit(&ready, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    value = x[0]; // WITH
    atomic_store_explicit(&ready, 1u, memory_order_relaxed);
  }
  if (t >= 32 && atomic_load_explicit(&ready, memory_order_relaxed) != 0) {
    y[t] = value; // BUG race-read-write
  }
}
