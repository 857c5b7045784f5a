// Accesses beyond the ends of device buffers.
#include <metal_stdlib>
using namespace metal;

//! [kernel.guard_forgotten_on_load]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void guard_forgotten_on_load(device const float* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  y[i] = x[i]; // BUG out-of-bounds-read
}

//! [kernel.guard_forgotten_on_store]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
kernel void guard_forgotten_on_store(device const float* x, device float* y,
                                     uint i [[thread_position_in_grid]]) {
  y[i] = x[i]; // BUG out-of-bounds-write
}

//! [kernel.guard_off_by_one]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void guard_off_by_one(device const float* x, device float* y, constant uint& n,
                             uint i [[thread_position_in_grid]]) {
  if (i <= n) {
    y[i] = 1.0f; // BUG out-of-bounds-write
  }
}

//! [kernel.right_neighbour_of_the_last]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void right_neighbour_of_the_last(device const float* x, device float* y,
                                        uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + x[i + 1]; // BUG out-of-bounds-read
}

//! [kernel.left_neighbour_of_the_first]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void left_neighbour_of_the_first(device const float* x, device float* y,
                                        uint i [[thread_position_in_grid]]) {
  int left = int(i) - 1;
  y[i] = x[i] + x[left]; // BUG out-of-bounds-read
}

//! [kernel.strides_swapped]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void strides_swapped(device const float* x, device float* y,
                            uint2 i [[thread_position_in_grid]]) {
  y[i.y * 16 + i.x] = x[i.x * 16 + i.y]; // BUG out-of-bounds-read
}

//! [kernel.last_vector_not_whole]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [126], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void last_vector_not_whole(device const float4* x, device float* y,
                                  uint i [[thread_position_in_grid]]) {
  y[i] = x[i].x + x[i].y + x[i].z + x[i].w; // BUG out-of-bounds-read
}

//! [kernel.index_from_data]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.index = { dtype = "int32", shape = [64], fill = 70 }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void index_from_data(device const float* x, device const int* index, device float* y,
                            uint i [[thread_position_in_grid]]) {
  y[i] = x[index[i]]; // BUG out-of-bounds-read
}

//! [kernel.scatter_to_negative_index]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.index = { dtype = "int32", shape = [64], fill = -5 }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void scatter_to_negative_index(device const float* x, device const int* index,
                                      device float* y, uint i [[thread_position_in_grid]]) {
  y[index[i]] = x[i]; // BUG out-of-bounds-write
}

//! [kernel.bin_of_a_large_value]
//! threads = [64]
//! threadgroup = [32]
//! arguments.bins = { dtype = "uint32", shape = [16], fill = "zeros" }
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
kernel void bin_of_a_large_value(device atomic_uint* bins, device const uint* x,
                                 uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[x[i] / 3], 1u, memory_order_relaxed); // BUG out-of-bounds-write
}

//! [kernel.loop_one_too_far]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 33
kernel void loop_one_too_far(device const float* x, device float* y, constant uint& n,
                             uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += x[k]; // BUG out-of-bounds-read
  }
  y[i] = sum;
}

//! [kernel.matrix_beyond_the_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [60], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void matrix_beyond_the_end(device const float* a, device float* y) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8); // BUG out-of-bounds-read
  simdgroup_store(m, y, 8);
}

//! [kernel.wide_element_at_the_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int64", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int64", shape = [31], fill = "uninitialised" }
kernel void wide_element_at_the_end(device const long* x, device long* y,
                                    uint i [[thread_position_in_grid]]) {
  y[i] = x[i]; // BUG out-of-bounds-write
}

//! [kernel.one_row_too_many]
//! threads = [9]
//! threadgroup = [9]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [9], fill = "uninitialised" }
static float row_sum(device const float* row, uint count) {
  float sum = 0;
  for (uint k = 0; k < count; ++k) {
    sum += row[k]; // BUG out-of-bounds-read
  }
  return sum;
}
kernel void one_row_too_many(device const float* x, device float* y,
                             uint i [[thread_position_in_grid]]) {
  y[i] = row_sum(x + i * 8, 8);
}
