// Accesses of different width or type that overlap.
#include <metal_stdlib>
using namespace metal;

//! [kernel.vector_and_scalar]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void vector_and_scalar(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float4 tile[64];
  tile[t] = ((device const float4*)x)[t];           // WITH
  y[t] = ((threadgroup const float*)tile)[255 - t]; // BUG race-read-write
}

//! [kernel.half_words_and_words]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint16", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void half_words_and_words(device const ushort* x, device uint* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup ushort halves[64];
  halves[t] = x[t]; // WITH
  if (t < 32) {
    y[t] = ((threadgroup const uint*)halves)[t]; // BUG race-read-write
  }
}

//! [kernel.regions_of_scratch_overlap]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.scratch = { bytes = 384 }
kernel void regions_of_scratch_overlap(device const float* x, device float* y,
                                       threadgroup float* scratch [[threadgroup(0)]],
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float* first = scratch;
  threadgroup float* second = scratch + 32;
  first[t] = x[t]; // BUG race-write-write
  second[t] = -x[t]; // BUG race-write-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = first[t] + second[t];
}

//! [kernel.bytes_written_as_a_word]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint8", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void bytes_written_as_a_word(device const uchar* x, device uint* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar bytes[64];
  bytes[t] = x[t]; // BUG race-write-write
  if (t == 32) {
    *(threadgroup uint*)bytes = 0x01010101; // BUG race-write-write
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = bytes[t];
}

//! [kernel.simdgroup_matrix_shared_too_early]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void simdgroup_matrix_shared_too_early(device const float* a, device float* y,
                                              uint t [[thread_position_in_threadgroup]],
                                              uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  if (sg == 0) {
    simdgroup_float8x8 m;
    simdgroup_load(m, a, 8);
    simdgroup_store(m, tile, 8); // WITH
  }
  y[t] = tile[63 - t]; // BUG race-read-write
}

//! [kernel.persistent_tile]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.n = 128
kernel void persistent_tile(device const float* x, device float* y, constant uint& n,
                            uint t [[thread_position_in_threadgroup]],
                            uint g [[threadgroup_position_in_grid]]) {
  threadgroup float shared_max;
  if (t == 0) {
    shared_max = x[g * 64];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (x[g * 64 + t] > shared_max) { // BUG race-read-write
    shared_max = x[g * 64 + t];     // BUG race-read-write|race-write-write
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[g * 64 + t] = g * 64 + t < n ? shared_max : 0.0f;
}
