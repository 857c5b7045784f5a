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
