// Threadgroups write different bytes of the same words.
#include <metal_stdlib>
using namespace metal;

//! [kernel.interleaved_bytes]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint8", shape = [64], fill = "uninitialised" }
kernel void interleaved_bytes(device const uchar* x, device uchar* y,
                              uint t [[thread_position_in_threadgroup]],
                              uint g [[threadgroup_position_in_grid]]) {
  y[t * 2 + g] = x[t * 2 + g];
}

//! [kernel.four_threadgroups_in_each_word]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "uint8", shape = [128], fill = "uninitialised" }
kernel void four_threadgroups_in_each_word(device const uchar* x, device uchar* y,
                                           uint t [[thread_position_in_threadgroup]],
                                           uint g [[threadgroup_position_in_grid]]) {
  y[t * 4 + g] = x[t * 4 + g] + 1;
}

//! [kernel.interleaved_halves]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float16", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float16", shape = [64], fill = "uninitialised" }
kernel void interleaved_halves(device const half* x, device half* y,
                               uint t [[thread_position_in_threadgroup]],
                               uint g [[threadgroup_position_in_grid]]) {
  y[t * 2 + g] = x[t * 2 + g] * 2.0h;
}

//! [kernel.odd_threadgroup_reads_other_components]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void odd_threadgroup_reads_other_components(device const float2* x, device float* y,
                                                   uint t [[thread_position_in_threadgroup]],
                                                   uint g [[threadgroup_position_in_grid]]) {
  y[t * 4 + g] = x[t].x;
  y[t * 4 + g + 2] = x[t].y;
}

//! [kernel.long_words]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "int64", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "int64", shape = [64], fill = "uninitialised" }
kernel void long_words(device const long* x, device long* y, uint i [[thread_position_in_grid]]) {
  y[63 - i] = x[i] << 33;
}

//! [kernel.halves_in_place_by_simdgroups]
//! threads = [128]
//! threadgroup = [128]
//! arguments.x = { dtype = "float16", shape = [4], fill = "iota" }
kernel void halves_in_place_by_simdgroups(device half* x,
                                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                                          uint lane [[thread_index_in_simdgroup]]) {
  if (lane == 0) {
    x[simdgroup] = x[simdgroup] * 2 + 1;
  }
}

//! [kernel.rows_of_odd_bytes_in_place]
//! threadgroups = [3]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint8", shape = [225], fill = "random" }
kernel void rows_of_odd_bytes_in_place(device uchar* x, uint row [[threadgroup_position_in_grid]],
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar turned[75];
  for (uint i = t; i < 75; i += 64) {
    turned[74 - i] = x[row * 75 + i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = t; i < 75; i += 64) {
    x[row * 75 + i] = turned[i];
  }
}
