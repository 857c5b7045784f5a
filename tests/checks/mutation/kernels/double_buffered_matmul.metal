// Matrix product of integers that loads the next tiles while it uses the present ones.
#include <metal_stdlib>
using namespace metal;

//! [kernel.double_buffered_matmul]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.a = { dtype = "int32", shape = [256], fill = "random" }
//! arguments.b = { dtype = "int32", shape = [256], fill = "random" }
//! arguments.c = { dtype = "int32", shape = [64], fill = "uninitialised" }
//! arguments.n = 32
kernel void double_buffered_matmul(device const int* a, device const int* b, device int* c,
                                   constant uint& n, uint2 i [[thread_position_in_grid]],
                                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup int left[2][64];
  threadgroup int right[2][64];
  uint place = t.y * 8 + t.x;
  left[0][place] = a[i.y * n + t.x];
  right[0][place] = b[t.y * 8 + i.x];
  int sum = 0;
  for (uint k = 0; k < n; k += 8) {
    uint now = (k / 8) & 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k + 8 < n) {
      left[1 - now][place] = a[i.y * n + k + 8 + t.x];
      right[1 - now][place] = b[(k + 8 + t.y) * 8 + i.x];
    }
    for (uint j = 0; j < 8; ++j) {
      sum += left[now][t.y * 8 + j] * right[now][j * 8 + t.x];
    }
  }
  c[i.y * 8 + i.x] = sum;
}
