// Loops whose condition is shared, and tiles that are only read.
#include <metal_stdlib>
using namespace metal;

//! [kernel.shared_condition]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void shared_condition(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup float error;
  float value = x[t];
  for (uint k = 0; k < 8; ++k) {
    if (t == 0) {
      error = value - float(k);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    bool done = error < -2.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (done) {
      break;
    }
    value *= 0.5f;
  }
  y[t] = value;
}

//! [kernel.table_read_by_all]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void table_read_by_all(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float table[8];
  if (t < 8) {
    table[t] = x[t] * x[t];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 8; ++k) {
    sum += table[(k + t) & 7];
  }
  y[t] = sum;
}

//! [kernel.stencil]
//! threads = [16, 16]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void stencil(device const float* x, device float* y, uint2 i [[thread_position_in_grid]],
                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[10][10];
  for (uint k = t.y * 8 + t.x; k < 100; k += 64) {
    int row = clamp(int(i.y - t.y + k / 10) - 1, 0, 15);
    int column = clamp(int(i.x - t.x + k % 10) - 1, 0, 15);
    tile[k / 10][k % 10] = x[row * 16 + column];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint r = t.y + 1, c = t.x + 1;
  y[i.y * 16 + i.x] = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
}

//! [kernel.matmul]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.b = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.c = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void matmul(device const float* a, device const float* b, device float* c,
                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[8][4], right[4][8];
  float sum = 0;
  for (uint k = 0; k < 8; k += 4) {
    if (t.x < 4) {
      left[t.y][t.x] = a[t.y * 8 + k + t.x];
    }
    if (t.y < 4) {
      right[t.y][t.x] = b[(k + t.y) * 8 + t.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 4; ++j) {
      sum += left[t.y][j] * right[j][t.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[t.y * 8 + t.x] = sum;
}
