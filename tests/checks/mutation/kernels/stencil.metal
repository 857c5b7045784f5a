// Five-point stencil with a halo in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.stencil]
//! threads = [16, 16]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [324], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void stencil(device const float* x, device float* y, uint2 i [[thread_position_in_grid]],
                    uint2 g [[threadgroup_position_in_grid]],
                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[10][10];
  uint place = t.y * 8 + t.x;
  for (uint k = place; k < 100; k += 64) {
    uint row = g.y * 8 + k / 10;
    uint column = g.x * 8 + k % 10;
    tile[k / 10][k % 10] = x[row * 18 + column];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint r = t.y + 1;
  uint c = t.x + 1;
  float around = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
  y[i.y * 16 + i.x] = around - 4.0f * tile[r][c];
}
