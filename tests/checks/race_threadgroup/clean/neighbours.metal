// Different simdgroups use different bytes that lie close together.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bytes_of_one_word]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint8", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint8", shape = [64], fill = "uninitialised" }
kernel void bytes_of_one_word(device const uchar* x, device uchar* y,
                              uint t [[thread_position_in_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]],
                              uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup uchar bytes[64];
  bytes[lane * 2 + sg] = x[t];
  y[t] = bytes[lane * 2 + sg];
}

//! [kernel.halves_of_one_word]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float16", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [64], fill = "uninitialised" }
kernel void halves_of_one_word(device const half* x, device half* y,
                               uint t [[thread_position_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]],
                               uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup half tile[64];
  tile[lane * 2 + sg] = x[t];
  tile[lane * 2 + sg] *= 2.0h;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}

//! [kernel.regions_of_simdgroups]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void regions_of_simdgroups(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]],
                                  uint lane [[thread_index_in_simdgroup]],
                                  uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[2][32];
  tile[sg][lane] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[sg][31 - lane];
}

//! [kernel.components_of_a_vector]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void components_of_a_vector(device const float* x, device float* y,
                                   uint t [[thread_position_in_threadgroup]],
                                   uint lane [[thread_index_in_simdgroup]],
                                   uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float2 pairs[32];
  ((threadgroup float*)pairs)[lane * 2 + sg] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = pairs[lane].x + pairs[lane].y;
}

//! [kernel.regions_of_scratch]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.scratch = { bytes = 512 }
kernel void regions_of_scratch(device const float* x, device float* y,
                               threadgroup float* scratch [[threadgroup(0)]],
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float* first = scratch;
  threadgroup float* second = scratch + 64;
  first[t] = x[t];
  second[63 - t] = -x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = first[63 - t] + second[t];
}

//! [kernel.matrix_in_a_region_of_its_own]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void matrix_in_a_region_of_its_own(device const float* a, device float* y,
                                          uint lane [[thread_index_in_simdgroup]],
                                          uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tiles[2][64];
  simdgroup_float8x8 m;
  simdgroup_load(m, a + sg * 64, 8);
  simdgroup_store(m, tiles[sg], 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[sg * 64 + lane] = tiles[sg][63 - lane];
  y[sg * 64 + 32 + lane] = tiles[sg][31 - lane];
}

//! [kernel.each_threadgroup_has_its_own]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void each_threadgroup_has_its_own(device const float* x, device float* y,
                                         uint t [[thread_position_in_threadgroup]],
                                         uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  tile[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[63 - t];
}
