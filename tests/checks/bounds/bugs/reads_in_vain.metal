// Reads outside of what nobody needs there: the optimiser would drop them, or put them off.
#include <metal_stdlib>
using namespace metal;

struct Pair {
  float first;
  float second;
};

//! [kernel.read_before_the_guard]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void read_before_the_guard(device const float* x, device float* y, constant uint& n,
                                  uint i [[thread_position_in_grid]]) {
  float v = x[i]; // BUG out-of-bounds-read
  if (i < n) y[i] = v;
}

//! [kernel.read_and_forgotten]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void read_and_forgotten(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  float v = x[i]; // BUG out-of-bounds-read
  (void)v;
  y[i] = 1;
}

//! [kernel.corner_of_a_tile_that_is_outside]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.rows = 1
//! arguments.columns = 32
kernel void corner_of_a_tile_that_is_outside(device const float* x, device float* y,
                                             constant uint& rows, constant uint& columns,
                                             uint i [[thread_position_in_grid]]) {
  uint row = i / 64, column = i % 64;
  device const float* corner = x + row * columns;
  const bool is_inside = row < rows && column < columns;
  const float v = corner[is_inside ? column : 0]; // BUG out-of-bounds-read
  y[i] = is_inside ? v : 0;
}

//! [kernel.copied_before_the_guard]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { bytes = 400 }
//! arguments.y = { dtype = "float32", shape = [50], fill = "uninitialised" }
//! arguments.n = 50
kernel void copied_before_the_guard(device const Pair* x, device float* y, constant uint& n,
                                    uint i [[thread_position_in_grid]]) {
  Pair v = x[i]; // BUG out-of-bounds-read
  if (i < n) y[i] = v.first;
}

//! [kernel.vector_before_the_guard]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [50, 4], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [50], fill = "uninitialised" }
//! arguments.n = 50
kernel void vector_before_the_guard(device const float4* x, device float* y, constant uint& n,
                                    uint i [[thread_position_in_grid]]) {
  float4 v = x[i]; // BUG out-of-bounds-read
  if (i < n) y[i] = v.y;
}

//! [kernel.tile_before_the_guard]
//! threads = [64]
//! threadgroup = [64]
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void tile_before_the_guard(device float* y, uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[32];
  if (t < 32) tile[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float v = tile[t]; // BUG out-of-bounds-read
  y[t] = t < 32 ? v : 0;
}

//! [kernel.own_variable_as_something_larger]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void own_variable_as_something_larger(device const float* x, device float* y,
                                             uint i [[thread_position_in_grid]]) {
  float2 pair = x[i];
  float4 all = *(thread float4*)&pair; // BUG out-of-bounds-read
  y[i] = all.x;
}
