// Wide and narrow elements that fill their banks evenly.
#include <metal_stdlib>
using namespace metal;

//! [kernel.dense_vectors]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void dense_vectors(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float4 a[32];
  a[t] = float4(x[t]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float4 mine = a[31 - t];
  y[t] = mine.x + mine.y + mine.z + mine.w;
}

//! [kernel.dense_pairs]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void dense_pairs(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float2 a[32];
  a[t] = float2(x[t]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float2 mine = a[31 - t];
  y[t] = mine.x + mine.y;
}

//! [kernel.bytes_of_one_word]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "uint8", shape = [1024], fill = "zeros" }
kernel void bytes_of_one_word(device const uchar* x, device uchar* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar a[128];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[31 - t];
}

//! [kernel.halves]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float16", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [1024], fill = "zeros" }
kernel void halves(device const half* x, device half* y,
                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup half a[64];
  a[t] = x[t];
  a[t + 32] = x[t + 32];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 2];
}

//! [kernel.atomic_histogram_of_neighbours]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [1024], fill = "zeros" }
kernel void atomic_histogram_of_neighbours(device const uint* x, device uint* y,
                                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint a[32];
  atomic_store_explicit(&a[t], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&a[t], x[t], memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&a[t], memory_order_relaxed);
}
