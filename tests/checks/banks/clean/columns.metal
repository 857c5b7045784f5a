// Columns of tiles that are padded, or whose accesses are not across rows.
#include <metal_stdlib>
using namespace metal;

//! [kernel.padded_by_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void padded_by_one(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][33];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k];
}

//! [kernel.padded_store]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void padded_store(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][33];
  for (uint k = 0; k < 32; ++k)
    tile[t][k] = x[t * 32 + k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[k][t];
}

//! [kernel.rows_only]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void rows_only(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[k][t];
}

//! [kernel.rows_backwards]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void rows_backwards(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[k][31 - t];
}

//! [kernel.swizzled]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void swizzled(device const float* x, device float* y,
                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t ^ k] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k ^ t];
}

//! [kernel.padded_by_three]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void padded_by_three(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][35];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k];
}

//! [kernel.rotated_rows]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void rotated_rows(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][(t + k) % 32] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][(k + t) % 32];
}

//! [kernel.padded_integers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [1024], fill = "zeros" }
kernel void padded_integers(device const uint* x, device uint* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint tile[32][33];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    y[k * 32 + t] = tile[t][k];
}

//! [kernel.one_lane_at_a_time]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void one_lane_at_a_time(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32][32];
  for (uint k = 0; k < 32; ++k)
    tile[k][t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 32; ++k)
    if (t == k) y[k] = tile[t][0];
}
