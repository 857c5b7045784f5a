// Transpose by padded tiles.
#include <metal_stdlib>
using namespace metal;

//! [kernel.transpose]
//! threads = [16, 24]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [384], fill = "random" }
//! arguments.y = { dtype = "float32", shape = [384], fill = "uninitialised" }
//! arguments.width = 16
//! arguments.height = 24
kernel void transpose(device const float* x, device float* y, constant uint& width,
                      constant uint& height, uint2 g [[threadgroup_position_in_grid]],
                      uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][9];
  uint column = g.x * 8 + t.x;
  uint row = g.y * 8 + t.y;
  tile[t.y][t.x] = x[row * width + column];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint to_column = g.y * 8 + t.x;
  uint to_row = g.x * 8 + t.y;
  y[to_row * height + to_column] = tile[t.x][t.y];
}
