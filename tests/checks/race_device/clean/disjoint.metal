// Every element belongs to one thread.
#include <metal_stdlib>
using namespace metal;

//! [kernel.add_one]
//! threads = [100]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
kernel void add_one(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + 1.0f;
}

//! [kernel.in_place]
//! threads = [128]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
kernel void in_place(device float* x, uint i [[thread_position_in_grid]]) {
  x[i] = x[i] * x[i];
}

//! [kernel.chunks]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void chunks(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 4; ++k) {
    y[i * 4 + k] = x[i * 4 + k];
  }
}

//! [kernel.grid_stride]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [300], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [300], fill = "uninitialised" }
//! arguments.n = 300
kernel void grid_stride(device const float* x, device float* y, constant uint& n,
                        uint i [[thread_position_in_grid]], uint grid [[threads_per_grid]]) {
  for (uint k = i; k < n; k += grid) {
    y[k] = x[k] + 1.0f;
  }
}

//! [kernel.reverse_in_place_by_pairs]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
kernel void reverse_in_place_by_pairs(device float* x, uint i [[thread_position_in_grid]]) {
  float low = x[i], high = x[127 - i];
  x[i] = high;
  x[127 - i] = low;
}

//! [kernel.transpose_in_place_by_pairs]
//! threads = [16, 16]
//! threadgroup = [8, 8]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
kernel void transpose_in_place_by_pairs(device float* x, uint2 i [[thread_position_in_grid]]) {
  if (i.x < i.y) {
    float low = x[i.y * 16 + i.x];
    x[i.y * 16 + i.x] = x[i.x * 16 + i.y];
    x[i.x * 16 + i.y] = low;
  }
}

//! [kernel.butterflies]
//! threads = [64]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
kernel void butterflies(device float* x, uint i [[thread_position_in_grid]]) {
  uint low = (i / 8) * 16 + i % 8;
  float a = x[low], b = x[low + 8];
  x[low] = a + b;
  x[low + 8] = a - b;
}

//! [kernel.red_and_black]
//! threads = [128]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [130], fill = "iota" }
kernel void red_and_black(device float* x, uint i [[thread_position_in_grid]]) {
  if (i & 1) {
    x[i] = 0.5f * (x[i - 1] + x[i + 1]);
  }
}

//! [kernel.scatter_by_a_permutation]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.index = { dtype = "int32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void scatter_by_a_permutation(device const float* x, device const int* index,
                                     device float* y, uint i [[thread_position_in_grid]]) {
  y[(index[i] * 37) & 127] = x[i];
}

//! [kernel.matrix_tiles]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.c = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void matrix_tiles(device const float* a, device float* c,
                         uint g [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a + g * 64, 8);
  simdgroup_store(m, c + g * 64, 8);
}
