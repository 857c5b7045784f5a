// Indices that leave their row of a two-dimensional array.
#include <metal_stdlib>
using namespace metal;

//! [kernel.right_neighbour]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void right_neighbour(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][t.x + 1]; // BUG row-overrun
}

//! [kernel.two_to_the_right]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void two_to_the_right(device float* x, device float* y,
                             uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][t.x + 2]; // BUG row-overrun
}

//! [kernel.index_from_data]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void index_from_data(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][uint(x[t.x]) + 1]; // BUG row-overrun
}

//! [kernel.rows_and_columns_swapped]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void rows_and_columns_swapped(device float* x, device float* y,
                                     uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.x / 3][t.y * 3]; // BUG row-overrun
}

//! [kernel.twice_the_index]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void twice_the_index(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y / 2][t.x * 2]; // BUG row-overrun
}

//! [kernel.last_column_of_a_longer_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void last_column_of_a_longer_row(device float* x, device float* y,
                                        uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][17 - t.x / 8]; // BUG row-overrun
}

//! [kernel.index_of_the_thread]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void index_of_the_thread(device float* x, device float* y,
                                uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y / 4][t.y * 16 + t.x - 16 * (t.y & 6)]; // BUG row-overrun
}

//! [kernel.wrong_remainder]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void wrong_remainder(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][(t.x + 9) % 17]; // BUG row-overrun
}

//! [kernel.wrong_mask]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void wrong_mask(device float* x, device float* y,
                       uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][(t.x + 1) & 31]; // BUG row-overrun
}

//! [kernel.left_neighbour]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void left_neighbour(device float* x, device float* y,
                           uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y > 0)
    y[t.y * 16 + t.x] = a[t.y][int(t.x) - 1]; // BUG row-overrun
}

//! [kernel.written_to_the_next_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void written_to_the_next_row(device float* x, device float* y,
                                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7 && t.x == 15)
    a[t.y][t.x + 1] = 0.0f; // BUG row-overrun
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = a[t.y][t.x];
}

//! [kernel.loop_over_too_many]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void loop_over_too_many(device float* x, device float* y,
                               uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k <= 16; ++k)
    sum += a[t.y % 7][k]; // BUG row-overrun
  y[t.y * 16 + t.x] = sum;
}

//! [kernel.loop_from_a_start]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void loop_from_a_start(device float* x, device float* y,
                              uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = t.x; k < t.x + 4; ++k)
    sum += a[t.y % 7][k]; // BUG row-overrun
  y[t.y * 16 + t.x] = sum;
}

//! [kernel.padding_forgotten]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void padding_forgotten(device float* x, device float* y,
                              uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][t.x + (t.y & 1)]; // BUG row-overrun
}

//! [kernel.halves_of_a_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void halves_of_a_row(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][t.x] - a[t.y][t.x + 8]; // BUG row-overrun
}

//! [kernel.variable_of_the_thread]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void variable_of_the_thread(device float* x, device float* y,
                                   uint2 t [[thread_position_in_threadgroup]]) {
  float a[4][4];
  for (uint k = 0; k < 16; ++k)
    a[k / 4][k % 4] = x[k];
  y[t.y * 16 + t.x] = a[t.y % 3][t.x % 5]; // BUG row-overrun
}

//! [kernel.three_dimensions_inside]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void three_dimensions_inside(device float* x, device float* y,
                                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[4][2][16];
  a[t.y / 2][t.y & 1][t.x] = x[t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = a[t.y / 4][t.y & 1][t.x + 1]; // BUG row-overrun
}

//! [kernel.three_dimensions_between]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void three_dimensions_between(device float* x, device float* y,
                                     uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[4][2][16];
  a[t.y / 2][t.y & 1][t.x] = x[t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = a[t.y / 4][(t.y & 1) + 1][t.x]; // BUG row-overrun
}

//! [kernel.rows_in_device_memory]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void rows_in_device_memory(device float* x, device float* y,
                                  uint2 t [[thread_position_in_threadgroup]]) {
  device float (*rows)[16] = (device float (*)[16])x;
  if (t.y < 7)
    y[t.y * 16 + t.x] = rows[t.y][t.x + 1]; // BUG row-overrun
}

//! [kernel.rows_of_a_structure]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void rows_of_a_structure(device float* x, device float* y,
                                uint2 t [[thread_position_in_threadgroup]]) {
  struct Tile { float a[8][16]; };
  threadgroup Tile s;
  s.a[t.y][t.x] = x[t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = s.a[t.y][t.x + 1]; // BUG row-overrun
}
