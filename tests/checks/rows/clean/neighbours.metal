// Indices that stay in their rows, and rows that are meant to be one array.
#include <metal_stdlib>
using namespace metal;

//! [kernel.right_neighbour_wraps]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void right_neighbour_wraps(device float* x, device float* y,
                                  uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][(t.x + 1) % 16];
}

//! [kernel.right_neighbour_masked]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void right_neighbour_masked(device float* x, device float* y,
                                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][(t.x + 1) & 15];
}

//! [kernel.right_neighbour_clamped]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void right_neighbour_clamped(device float* x, device float* y,
                                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][min(t.x + 1, 15u)];
}

//! [kernel.mirrored]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void mirrored(device float* x, device float* y,
                     uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][15 - t.x];
}

//! [kernel.another_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void another_row(device float* x, device float* y,
                        uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y + 1][t.x];
}

//! [kernel.half_the_index]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void half_the_index(device float* x, device float* y,
                           uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][t.x / 2];
}

//! [kernel.index_from_small_data]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void index_from_small_data(device float* x, device float* y,
                                  uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][uint(x[t.x])];
}

//! [kernel.swapped_within_bounds]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void swapped_within_bounds(device float* x, device float* y,
                                  uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.x / 2][t.y * 2];
}

//! [kernel.first_column]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void first_column(device float* x, device float* y,
                         uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][0];
}

//! [kernel.last_column]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void last_column(device float* x, device float* y,
                        uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.y < 7)
    y[t.y * 16 + t.x] = a[t.y][15];
}

//! [kernel.right_neighbour_guarded]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void right_neighbour_guarded(device float* x, device float* y,
                                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = t.x < 15 ? a[t.y][t.x + 1] : 0.0f;
}

//! [kernel.left_neighbour_guarded]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void left_neighbour_guarded(device float* x, device float* y,
                                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.x > 0)
    y[t.y * 16 + t.x] = a[t.y][t.x - 1];
}

//! [kernel.one_column_more]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void one_column_more(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][17];
  a[t.y][t.x] = x[t.x];
  a[t.y][16] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = a[t.y][t.x + 1];
}

//! [kernel.all_as_one_array]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void all_as_one_array(device float* x, device float* y,
                             uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = (&a[0][0])[t.y * 16 + t.x];
}

//! [kernel.pointer_to_a_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void pointer_to_a_row(device float* x, device float* y,
                             uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* row = a[t.y % 7];
  y[t.y * 16 + t.x] = row[t.x + 1];
}

//! [kernel.loop_over_a_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void loop_over_a_row(device float* x, device float* y,
                            uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 16; ++k)
    sum += a[t.y][k];
  y[t.y * 16 + t.x] = sum;
}

//! [kernel.address_behind_the_row]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void address_behind_the_row(device float* x, device float* y,
                                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[8][16];
  a[t.y][t.x] = x[t.y * 16 + t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* end = &a[t.y][16];
  y[t.y * 16 + t.x] = end[int(t.x) - 16];
}

//! [kernel.variable_of_the_thread_within]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void variable_of_the_thread_within(device float* x, device float* y,
                                          uint2 t [[thread_position_in_threadgroup]]) {
  float a[4][4];
  for (uint k = 0; k < 16; ++k)
    a[k / 4][k % 4] = x[k];
  y[t.y * 16 + t.x] = a[t.y % 4][t.x % 4];
}

//! [kernel.three_dimensions_within]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void three_dimensions_within(device float* x, device float* y,
                                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[4][2][16];
  a[t.y / 2][t.y & 1][t.x] = x[t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = a[t.y / 4][t.y & 1][15 - t.x];
}

//! [kernel.rows_in_device_memory_within]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void rows_in_device_memory_within(device float* x, device float* y,
                                         uint2 t [[thread_position_in_threadgroup]]) {
  device float (*rows)[16] = (device float (*)[16])x;
  y[t.y * 16 + t.x] = rows[t.y + 8][15 - t.x];
}

//! [kernel.one_dimension]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void one_dimension(device float* x, device float* y,
                          uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float a[128];
  a[t.y * 16 + t.x] = x[t.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = a[(t.y * 16 + t.x + 1) % 128];
}
