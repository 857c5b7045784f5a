// Accesses beyond the ends of threadgroup and private arrays.
#include <metal_stdlib>
using namespace metal;

//! [kernel.past_the_tile]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void past_the_tile(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t + 1] = x[t]; // BUG out-of-bounds-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}

//! [kernel.halo_off_by_one]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void halo_off_by_one(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[65];
  tile[t] = x[t];
  if (t == 0) {
    tile[64] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t + 2]; // BUG out-of-bounds-read
}

//! [kernel.scratch_too_small]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.scratch = { bytes = 128 }
kernel void scratch_too_small(device const float* x, device float* y,
                              threadgroup float* scratch [[threadgroup(0)]],
                              uint t [[thread_position_in_threadgroup]]) {
  scratch[t] = x[t]; // BUG out-of-bounds-write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = x[63 - t];
}

//! [kernel.private_array]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 9
kernel void private_array(device const float* x, device float* y, constant uint& n,
                          uint i [[thread_position_in_grid]]) {
  float values[8];
  for (uint k = 0; k < n; ++k) {
    values[k] = x[(i + k) & 31]; // BUG out-of-bounds-write
  }
  y[i] = values[i & 7];
}

//! [kernel.read_past_private_array]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 12
kernel void read_past_private_array(device const float* x, device float* y, constant uint& n,
                                    uint i [[thread_position_in_grid]]) {
  float values[8];
  for (uint k = 0; k < 8; ++k) {
    values[k] = x[(i + k) & 31];
  }
  y[i] = values[n]; // BUG out-of-bounds-read
}

//! [kernel.past_a_constant_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
constant float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};
kernel void past_a_constant_table(device const float* x, device float* y,
                                  uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * weights[i / 4]; // BUG out-of-bounds-read
}

//! [kernel.past_one_of_two_tiles]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void past_one_of_two_tiles(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float left[64];
  threadgroup float right[64];
  left[t] = x[t];
  right[t] = -x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = left[t + 1] + right[t]; // BUG out-of-bounds-read
}
