// Columns of tiles whose rows are a multiple of 32 words.
#include <metal_stdlib>
using namespace metal;

//! [kernel.transpose]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void transpose(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.transposed_store]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void transposed_store(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[t][k] = x[k * 32 + t]; // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[k][t];
}

//! [kernel.rows_of_64]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void rows_of_64(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][64];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.rows_of_16]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void rows_of_16(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][16];
  for (uint k = 0; k < 32; ++k)
    if (t < 16) tile[k][t] = x[k * 16 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    if (k < 16) y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.padded_by_two]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void padded_by_two(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][34];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    if (k == 5) y[t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.padded_to_a_line]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void padded_to_a_line(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][64];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k + 1]; // BUG bank-conflict
}

//! [kernel.half_the_lanes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void half_the_lanes(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    if (t < 16) y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.integers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [1024], fill = "zeros" }
kernel void integers(device const uint* x, device uint* y,
                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.column_of_halves]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float16", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [1024], fill = "zeros" }
kernel void column_of_halves(device const half* x, device half* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup half tile[32][64];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}

//! [kernel.both_ways]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void both_ways(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[t][k] = x[t * 32 + k]; // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k]; // BUG bank-conflict
}
