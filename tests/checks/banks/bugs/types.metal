// Vectors, structures and atomics that leave banks unused.
#include <metal_stdlib>
using namespace metal;

//! [kernel.first_of_each_vector]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void first_of_each_vector(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float4 a[32];
  a[t] = float4(x[t]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t].x; // BUG bank-conflict
}

//! [kernel.pairs_apart]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void pairs_apart(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float2 a[64];
  a[t] = float2(x[t]);
  a[t + 32] = float2(x[t]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float2 both = a[t * 2]; // BUG bank-conflict
  y[t] = both.x + both.y;
}

//! [kernel.atomic_counters_of_a_row]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [1024], fill = "zeros" }
kernel void atomic_counters_of_a_row(device const uint* x, device uint* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint a[1024];
  for (uint k = 0; k < 32; ++k)
    atomic_store_explicit(&a[k * 32 + t], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&a[t * 32], x[t], memory_order_relaxed); // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&a[t], memory_order_relaxed);
}

//! [kernel.structure_members]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void structure_members(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  struct Point { float a, b, c, d; };
  threadgroup Point points[32];
  points[t].a = x[t]; // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = points[t].a; // BUG bank-conflict
}
