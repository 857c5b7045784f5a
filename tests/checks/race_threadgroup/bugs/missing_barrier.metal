// A value crosses simdgroups through threadgroup memory with no barrier in between.
#include <metal_stdlib>
using namespace metal;

//! [kernel.reverse]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void reverse(device const float* x, device float* y,
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];      // WITH
  y[t] = tile[63 - t]; // BUG race-read-write
}

//! [kernel.neighbour_average]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void neighbour_average(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];                       // WITH
  float right = tile[min(t + 1, 63u)];  // BUG race-read-write
  y[t] = 0.5f * (x[t] + right);
}

//! [kernel.broadcast_first]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void broadcast_first(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float first;
  if (t == 0) {
    first = x[0]; // WITH
  }
  y[t] = x[t] - first; // BUG race-read-write
}

//! [kernel.barrier_of_simdgroup_only]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void barrier_of_simdgroup_only(device const float* x, device float* y,
                                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];      // WITH
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t ^ 32]; // BUG race-read-write
}

//! [kernel.transpose_tile]
//! threadgroups = [1]
//! threadgroup = [16, 16]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void transpose_tile(device const float* x, device float* y,
                           uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[16][17];
  tile[t.y][t.x] = x[t.y * 16 + t.x];  // WITH
  y[t.y * 16 + t.x] = tile[t.x][t.y];  // BUG race-read-write
}

//! [kernel.in_helpers]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
static void load_tile(threadgroup float* tile, device const float* x, uint t) {
  tile[t] = x[t]; // WITH
}
static float sum_tile(threadgroup const float* tile) {
  float sum = 0;
  for (uint k = 0; k < 64; ++k) {
    sum += tile[k]; // BUG race-read-write
  }
  return sum;
}
kernel void in_helpers(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  load_tile(tile, x, t);
  y[t] = sum_tile(tile);
}
