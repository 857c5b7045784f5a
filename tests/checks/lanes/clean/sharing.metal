// Places that several lanes use without harm.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void histogram(device const uint* x, device uint* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint bins[4];
  if (t < 4) {
    atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[x[t] & 3], 1u, memory_order_relaxed);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
  }
}

//! [kernel.same_value]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.found = { dtype = "uint32", shape = [1], fill = "zeros" }
kernel void same_value(device const float* x, device uint* found,
                       uint t [[thread_position_in_threadgroup]]) {
  if (x[t] > 9.0f) {
    found[0] = 1;
  }
}

//! [kernel.all_read_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void all_read_one(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[0] + x[t] + x[31];
}

//! [kernel.neighbouring_bytes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint8", shape = [32], fill = "uninitialised" }
kernel void neighbouring_bytes(device const uchar* x, device uchar* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar bytes[32];
  bytes[31 - t] = x[t];
  bytes[31 - t] += 1;
  y[t] = bytes[31 - t];
}

//! [kernel.neighbouring_halves]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float16", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [32], fill = "uninitialised" }
kernel void neighbouring_halves(device const half* x, device half* y,
                                uint t [[thread_position_in_threadgroup]]) {
  y[t ^ 1] = x[t];
  y[t ^ 1] += 1.0h;
}

//! [kernel.pairs_swapped]
//! threads = [16]
//! threadgroup = [16]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
kernel void pairs_swapped(device float* x, uint t [[thread_position_in_threadgroup]]) {
  float low = x[t], high = x[31 - t];
  x[t] = high;
  x[31 - t] = low;
}

//! [kernel.lanes_of_one_branch_only]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void lanes_of_one_branch_only(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  if (t & 1) {
    tile[t] = x[t];
  } else {
    tile[t] = -x[t];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t ^ 1];
}
