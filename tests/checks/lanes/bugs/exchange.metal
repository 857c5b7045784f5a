// Lanes of one simdgroup exchange values without a barrier; only lock step makes it work.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reverse]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void reverse(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  tile[t] = x[t];      // WITH
  y[t] = tile[31 - t]; // BUG lane-race
}

//! [kernel.broadcast]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void broadcast(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float first;
  if (t == 0) {
    first = x[0] + 1.0f; // WITH
  }
  y[t] = x[t] * first; // BUG lane-race
}

//! [kernel.overwritten_too_early]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void overwritten_too_early(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  float sum = 0;
  for (uint k = 0; k < 2; ++k) {
    tile[t] = x[k * 32 + t]; // BUG lane-race
    simdgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[31 - t]; // WITH
  }
  y[t] = sum;
}

//! [kernel.neighbours]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void neighbours(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[34];
  tile[t + 1] = x[t]; // WITH
  if (t < 2) {
    tile[t * 33] = 0.0f; // WITH
  }
  y[t] = tile[t] + tile[t + 2]; // BUG lane-race
}

//! [kernel.transpose]
//! threadgroups = [1]
//! threadgroup = [4, 8]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void transpose(device const float* x, device float* y,
                      uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][5];
  tile[t.y][t.x] = x[t.y * 4 + t.x]; // WITH
  uint k = t.y * 4 + t.x;
  y[k] = tile[k & 7][k >> 3]; // BUG lane-race
}

//! [kernel.each_simdgroup_by_itself]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void each_simdgroup_by_itself(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]],
                                     uint lane [[thread_index_in_simdgroup]],
                                     uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[2][32];
  tile[sg][lane] = x[t]; // WITH
  y[t] = tile[sg][lane ^ 1]; // BUG lane-race
}

//! [kernel.through_device_memory]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.scratch = { dtype = "float32", shape = [32], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void through_device_memory(device const float* x, device float* scratch, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  scratch[t] = x[t];      // WITH
  y[t] = scratch[31 - t]; // BUG lane-race
}

//! [kernel.elements_of_a_matrix]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void elements_of_a_matrix(device const float* a, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  simdgroup_store(m, tile, 8); // WITH
  y[t] = tile[t];              // BUG lane-race
}

//! [kernel.in_a_helper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
static void put(threadgroup float* tile, float value, uint t) {
  tile[t] = value; // WITH
}
kernel void in_a_helper(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  put(tile, x[t], t);
  y[t] = tile[(t + 5) & 31]; // BUG lane-race
}

//! [kernel.barrier_without_flags]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void barrier_without_flags(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  tile[t] = x[t]; // WITH
  simdgroup_barrier(mem_flags::mem_none);
  y[t] = tile[31 - t]; // BUG lane-race
}

//! [kernel.barrier_of_other_memory]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.scratch = { dtype = "float32", shape = [32], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void barrier_of_other_memory(device const float* x, device float* scratch, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  scratch[t] = x[t]; // WITH
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = scratch[31 - t]; // BUG lane-race
}

//! [kernel.counter_set_in_lock_step]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint32", shape = [1], fill = "uninitialised" }
kernel void counter_set_in_lock_step(device uint* y, uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint n;
  if (t == 0)
    atomic_store_explicit(&n, 0u, memory_order_relaxed); // WITH
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed); // BUG lane-race
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0)
    y[0] = atomic_load_explicit(&n, memory_order_relaxed);
}
