// Strides that meet every bank, and words that lanes share.
#include <metal_stdlib>
using namespace metal;

//! [kernel.neighbours]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void neighbours(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[32];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[31 - t];
}

//! [kernel.stride_of_three]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void stride_of_three(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[96];
  for (uint k = 0; k < 3; ++k)
    a[k * 32 + t] = x[k * 32 + t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 3];
}

//! [kernel.stride_of_33]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void stride_of_33(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[1056];
  for (uint k = 0; k < 33; ++k)
    a[k * 32 + t] = x[(k * 32 + t) % 1024];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t * 33];
}

//! [kernel.all_read_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void all_read_one(device const float* x, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[32];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[uint(x[0])];
}

//! [kernel.halves_of_lanes_share]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void halves_of_lanes_share(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[32];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[t / 2];
}

//! [kernel.sequential_reduction]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void sequential_reduction(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[32];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint s = 16; s > 0; s /= 2) {
    if (t < s)
      a[t] += a[t + s];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = a[0];
}

//! [kernel.shuffled_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void shuffled_table(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[32];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[(uint(x[t]) * 7) % 32];
}

//! [kernel.two_simdgroups_in_one_bank]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [1024], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1024], fill = "zeros" }
kernel void two_simdgroups_in_one_bank(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float a[64];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = a[(t + 32) % 64];
}
