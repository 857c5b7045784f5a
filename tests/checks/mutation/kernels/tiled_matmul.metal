// Matrix product of integers with 8x8 tiles in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.tiled_matmul]
//! threads = [16, 16]
//! threadgroup = [8, 8]
//! arguments.a = { dtype = "int32", shape = [256], fill = "random" }
//! arguments.b = { dtype = "int32", shape = [256], fill = "random" }
//! arguments.c = { dtype = "int32", shape = [256], fill = "uninitialised" }
//! arguments.n = 16
kernel void tiled_matmul(device const int* a, device const int* b, device int* c,
                         constant uint& n, uint2 i [[thread_position_in_grid]],
                         uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup int left[8][8];
  threadgroup int right[8][8];
  int sum = 0;
  for (uint k = 0; k < n; k += 8) {
    left[t.y][t.x] = a[i.y * n + k + t.x];
    right[t.y][t.x] = b[(k + t.y) * n + i.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 8; ++j) {
      sum += left[t.y][j] * right[j][t.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[i.y * n + i.x] = sum;
}
