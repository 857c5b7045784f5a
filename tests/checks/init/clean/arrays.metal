// Arrays that are filled in part, and read where they are filled.
#include <metal_stdlib>
using namespace metal;

//! [kernel.read_where_written]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 4
kernel void read_where_written(device const float* x, device float* y, constant uint& n,
                               uint i [[thread_position_in_grid]]) {
  float values[8];
  for (uint k = 0; k < n; ++k) {
    values[k] = x[(i + k) & 31];
  }
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += values[k];
  }
  y[i] = sum;
}

//! [kernel.stack]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void stack(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  uint places[16];
  uint depth = 0;
  places[depth++] = 1;
  float sum = 0;
  while (depth > 0) {
    uint node = places[--depth];
    sum += x[(node + i) & 31];
    if (node < 8) {
      places[depth++] = node * 2;
      places[depth++] = node * 2 + 1;
    }
  }
  y[i] = sum;
}

//! [kernel.zeroed_by_another_type]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void zeroed_by_another_type(device const float* x, device float* y,
                                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint words[64];
  words[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = x[t] + as_type<float>(words[63 - t]);
}

//! [kernel.zeroed_with_a_stride]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void zeroed_with_a_stride(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[200];
  for (uint k = t; k < 200; k += 64) {
    tile[k] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[t * 3] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t * 2];
}

//! [kernel.word_of_four_bytes]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint8", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [16], fill = "uninitialised" }
kernel void word_of_four_bytes(device const uchar* x, device uint* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar bytes[64];
  bytes[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 16) {
    y[t] = ((threadgroup const uint*)bytes)[t];
  }
}

//! [kernel.filled_by_a_matrix]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void filled_by_a_matrix(device const float* a, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  simdgroup_store(m, tile, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t] + tile[t + 32];
}

//! [kernel.vectors_of_three]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [192], fill = "uninitialised" }
kernel void vectors_of_three(device const float3* x, device packed_float3* y,
                             uint t [[thread_position_in_threadgroup]]) {
  threadgroup float3 tile[64];
  tile[t] = x[t & 15];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[63 - t];
}

//! [kernel.sorted_small_array]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void sorted_small_array(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  float values[5];
  for (uint k = 0; k < 5; ++k) {
    uint at = k;
    float value = x[(i * 7 + k) & 31];
    while (at > 0 && values[at - 1] > value) {
      values[at] = values[at - 1];
      --at;
    }
    values[at] = value;
  }
  y[i] = values[2];
}

//! [kernel.array_with_initialiser]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void array_with_initialiser(device const float* x, device float* y,
                                   uint i [[thread_position_in_grid]]) {
  float values[8] = {x[i], 1.0f};
  y[i] = values[i & 7];
}
