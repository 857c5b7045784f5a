// Reads of what nobody needs that are within bounds all the same.
#include <metal_stdlib>
using namespace metal;

//! [kernel.read_before_the_guard]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void read_before_the_guard(device const float* x, device float* y, constant uint& n,
                                  uint i [[thread_position_in_grid]]) {
  float v = x[i];
  if (i < n) y[i] = v;
}

//! [kernel.clamped_before_the_guard]
//! threads = [128]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [100], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [100], fill = "uninitialised" }
//! arguments.n = 100
kernel void clamped_before_the_guard(device const float* x, device float* y, constant uint& n,
                                     uint i [[thread_position_in_grid]]) {
  float v = x[min(i, n - 1)];
  if (i < n) y[i] = v;
}

//! [kernel.one_member_of_the_last]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64, 4], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void one_member_of_the_last(device const float4* x, device float* y,
                                   uint i [[thread_position_in_grid]]) {
  y[i] = x[i].w;
}
