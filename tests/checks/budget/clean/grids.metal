// Grids up to what is allowed.
#include <metal_stdlib>
using namespace metal;

//! [kernel.full_threadgroup]
//! threads = [1024]
//! threadgroup = [1024]
//! arguments.y = { dtype = "float32", shape = [1024], fill = "uninitialised" }
kernel void full_threadgroup(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.full_in_two_dimensions]
//! threads = [32, 32]
//! threadgroup = [32, 32]
//! arguments.y = { dtype = "float32", shape = [1024], fill = "uninitialised" }
kernel void full_in_two_dimensions(device float* y, uint2 i [[thread_position_in_grid]]) {
  y[i.y * 32 + i.x] = 1.0f;
}

//! [kernel.full_in_three_dimensions]
//! threadgroups = [1, 1, 1]
//! threadgroup = [16, 8, 8]
//! arguments.y = { dtype = "float32", shape = [1024], fill = "uninitialised" }
kernel void full_in_three_dimensions(device float* y, uint t [[thread_index_in_threadgroup]]) {
  y[t] = 1.0f;
}

//! [kernel.as_many_as_declared]
//! threads = [256]
//! threadgroup = [128]
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
[[max_total_threads_per_threadgroup(128)]]
kernel void as_many_as_declared(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.no_multiple_of_the_simdgroup]
//! threads = [3000]
//! threadgroup = [1000]
//! arguments.y = { dtype = "float32", shape = [3000], fill = "uninitialised" }
kernel void no_multiple_of_the_simdgroup(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.grid_smaller_than_the_threadgroup]
//! threads = [5]
//! threadgroup = [64]
//! arguments.y = { dtype = "float32", shape = [5], fill = "uninitialised" }
kernel void grid_smaller_than_the_threadgroup(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.one_thread]
//! threads = [1]
//! threadgroup = [1]
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void one_thread(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.many_threadgroups]
//! threads = [70000]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [70000], fill = "uninitialised" }
kernel void many_threadgroups(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.narrow]
//! threads = [2, 500]
//! threadgroup = [1, 500]
//! arguments.y = { dtype = "float32", shape = [1000], fill = "uninitialised" }
kernel void narrow(device float* y, uint2 i [[thread_position_in_grid]]) {
  y[i.y * 2 + i.x] = 1.0f;
}

//! [kernel.full_and_declared]
//! threads = [1024]
//! threadgroup = [1024]
//! arguments.y = { dtype = "float32", shape = [1024], fill = "uninitialised" }
[[max_total_threads_per_threadgroup(1024)]]
kernel void full_and_declared(device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}
