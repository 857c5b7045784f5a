// Indices that make several threadgroups use one element.
#include <metal_stdlib>
using namespace metal;

//! [kernel.too_few_outputs]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void too_few_outputs(device const float* x, device float* y,
                            uint i [[thread_position_in_grid]]) {
  y[i % 64] = x[i]; // BUG race-write-write
}

//! [kernel.chunks_off_by_one]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [257], fill = "uninitialised" }
kernel void chunks_off_by_one(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < 4; ++k) {
    y[i * 4 + k] = x[i * 4 + k]; // BUG race-write-write
  }
  y[i * 4 + 4] = -1.0f; // BUG race-write-write
}

//! [kernel.strides_swapped]
//! threads = [16, 8]
//! threadgroup = [16, 4]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "zeros" }
kernel void strides_swapped(device const float* x, device float* y,
                            uint2 i [[thread_position_in_grid]]) {
  y[i.y * 8 + i.x] = x[i.y * 16 + i.x]; // BUG race-write-write
}

//! [kernel.scatter_with_duplicates]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.index = { dtype = "int32", shape = [128], fill = 3 }
//! arguments.y = { dtype = "float32", shape = [128], fill = "zeros" }
kernel void scatter_with_duplicates(device const float* x, device const int* index,
                                    device float* y, uint i [[thread_position_in_grid]]) {
  y[index[i]] = x[i]; // BUG race-write-write
}

//! [kernel.words_over_bytes]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint8", shape = [64], fill = "zeros" }
kernel void words_over_bytes(device const uchar* x, device uchar* y,
                             uint t [[thread_position_in_threadgroup]],
                             uint g [[threadgroup_position_in_grid]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = x[i]; // BUG race-write-write
  if (g == 1 && t == 0) {
    *(device uint*)y = 0x7f7f7f7f; // BUG race-write-write
  }
}

//! [kernel.vectors_overlap]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "zeros" }
kernel void vectors_overlap(device const float* x, device float* y,
                            uint i [[thread_position_in_grid]]) {
  device float* place = y + i * 2;
  for (uint k = 0; k < 4; ++k) {
    place[k] = x[i * 4 + k]; // BUG race-write-write
  }
}

//! [kernel.matrix_tiles_overlap]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.c = { dtype = "float32", shape = [128], fill = "zeros" }
kernel void matrix_tiles_overlap(device const float* a, device float* c,
                                 uint g [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a + g * 64, 8);
  simdgroup_store(m, c + g * 32, 8); // BUG race-write-write
}

//! [kernel.neighbours_level]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.depth = { dtype = "int32", shape = [64], fill = "zeros" }
//! arguments.y = { dtype = "int32", shape = [64], fill = "uninitialised" }
kernel void neighbours_level(device int* depth, device int* y, uint i [[thread_position_in_grid]]) {
  depth[i] = int(i) + 1;     // WITH
  y[i] = depth[(i + 32) & 63]; // BUG race-read-write
}
