// Tiles that are overwritten by the next iteration while others still read them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.overwritten_in_next_iteration]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void overwritten_in_next_iteration(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[t] = x[k * 64 + t]; // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - t]; // WITH
  }
  y[t] = sum;
}

//! [kernel.matmul_without_second_barrier]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.b = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.c = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void matmul_without_second_barrier(device const float* a, device const float* b,
                                          device float* c,
                                          uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[8][4], right[4][8];
  float sum = 0;
  for (uint k = 0; k < 8; k += 4) {
    if (t.x < 4) {
      left[t.y][t.x] = a[t.y * 8 + k + t.x];
    }
    if (t.y < 4) {
      right[t.y][t.x] = b[(k + t.y) * 8 + t.x]; // BUG race-read-write
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 4; ++j) {
      sum += left[t.y][j]
             * right[j][t.x]; // WITH
    }
  }
  c[t.y * 8 + t.x] = sum;
}

//! [kernel.barrier_in_first_iteration_only]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void barrier_in_first_iteration_only(device const float* x, device float* y,
                                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[k & 1][t] = x[k * 64 + t]; // BUG race-read-write
    if (k == 0) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    sum += tile[k & 1][63 - t]; // BUG race-read-write
  }
  y[t] = sum;
}

//! [kernel.double_buffer_with_one_buffer]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void double_buffer_with_one_buffer(device const float* x, device float* y,
                                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][64];
  tile[0][t] = x[t];
  float sum = 0;
  for (uint k = 1; k < 4; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile[(k >> 1) & 1][t] = x[k * 64 + t]; // BUG race-read-write
    sum += tile[((k - 1) >> 1) & 1][63 - t]; // WITH
  }
  y[t] = sum;
}

//! [kernel.bitonic_stage]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "int32", shape = [64], fill = "random" }
//! arguments.y = { dtype = "int32", shape = [64], fill = "uninitialised" }
kernel void bitonic_stage(device const int* x, device int* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup int keys[64];
  keys[t] = x[63 - t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint size = 2; size <= 64; size <<= 1) {
    for (uint step = size >> 1; step > 0; step >>= 1) {
      uint other = t ^ step;
      int mine = keys[t];
      int theirs = keys[other]; // WITH
      bool lower = t < other;
      bool up = (t & size) == 0;
      keys[t] = (lower == up) ? min(mine, theirs) : max(mine, theirs); // BUG race-read-write
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  y[t] = keys[t];
}
