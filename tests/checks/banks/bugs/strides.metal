// Neighbouring lanes that are a power of two apart.
#include <metal_stdlib>
using namespace metal;

//! [kernel.stride_of_two]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void stride_of_two(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[64];
  a[t] = x[t];
  a[t + 32] = x[t + 32];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 2]; // BUG bank-conflict
}

//! [kernel.stride_of_four]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void stride_of_four(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[128];
  for (uint k = 0; k < 4; ++k)
    a[k * 32 + t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 4 + 3]; // BUG bank-conflict
}

//! [kernel.stride_of_six]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void stride_of_six(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[192];
  for (uint k = 0; k < 6; ++k)
    a[k * 32 + t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 6]; // BUG bank-conflict
}

//! [kernel.own_block_of_eight]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void own_block_of_eight(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[256];
  for (uint k = 0; k < 8; ++k)
    a[t * 8 + k] = x[t * 8 + k]; // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t];
}

//! [kernel.every_other_element]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void every_other_element(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[64];
  a[t * 2] = x[t]; // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 2]; // BUG bank-conflict
}

//! [kernel.interleaved_reduction]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void interleaved_reduction(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[64];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 1; s < 64; s *= 2) {
    uint at = 2 * s * t;
    if (at + s < 64)
      a[at] += a[at + s]; // BUG bank-conflict
  threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = a[0];
}

//! [kernel.from_a_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void from_a_table(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[1024];
  for (uint k = 0; k < 32; ++k)
    a[k * 32 + t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[uint(x[t]) * 32]; // BUG bank-conflict
}

//! [kernel.through_a_helper_pointer]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void through_a_helper_pointer(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[1024];
  for (uint k = 0; k < 32; ++k)
    a[k * 32 + t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* mine = a + t * 32;
  y[t] = mine[1]; // BUG bank-conflict
}
