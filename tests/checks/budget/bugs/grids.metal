// Threadgroups with more threads than the hardware or the kernel allows.
#include <metal_stdlib>
using namespace metal;

//! [kernel.twice_the_limit]
//! threads = [2048]
//! threadgroup = [2048]
//! arguments.y = { dtype = "float32", shape = [2048], fill = "uninitialised" }
kernel void twice_the_limit(device float* y,  // BUG grid-limits
                            uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.one_too_many]
//! threads = [1025]
//! threadgroup = [1025]
//! arguments.y = { dtype = "float32", shape = [1025], fill = "uninitialised" }
kernel void one_too_many(device float* y, uint i [[thread_position_in_grid]]) {  // BUG grid-limits
  y[i] = 1.0f;
}

//! [kernel.in_two_dimensions]
//! threads = [33, 32]
//! threadgroup = [33, 32]
//! arguments.y = { dtype = "float32", shape = [1056], fill = "uninitialised" }
kernel void in_two_dimensions(device float* y,  // BUG grid-limits
                              uint2 i [[thread_position_in_grid]]) {
  y[i.y * 33 + i.x] = 1.0f;
}

//! [kernel.in_three_dimensions]
//! threads = [16, 16, 8]
//! threadgroup = [16, 16, 8]
//! arguments.y = { dtype = "float32", shape = [2048], fill = "uninitialised" }
kernel void in_three_dimensions(device float* y,  // BUG grid-limits
                                uint t [[thread_index_in_threadgroup]]) {
  y[t] = 1.0f;
}

//! [kernel.more_than_declared]
//! threads = [256]
//! threadgroup = [256]
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
[[max_total_threads_per_threadgroup(128)]]
kernel void more_than_declared(device float* y,  // BUG grid-limits
                               uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.more_than_declared_in_whole_threadgroups]
//! threadgroups = [4]
//! threadgroup = [512]
//! arguments.y = { dtype = "float32", shape = [2048], fill = "uninitialised" }
[[max_total_threads_per_threadgroup(256)]]
kernel void more_than_declared_in_whole_threadgroups(device float* y,  // BUG grid-limits
                                                     uint i [[thread_position_in_grid]]) {
  y[i] = 1.0f;
}

//! [kernel.whole_threadgroups_in_two_dimensions]
//! threadgroups = [1]
//! threadgroup = [32, 33]
//! arguments.y = { dtype = "float32", shape = [1056], fill = "uninitialised" }
kernel void whole_threadgroups_in_two_dimensions(device float* y,  // BUG grid-limits
                                                 uint2 i [[thread_position_in_grid]]) {
  y[i.y * 32 + i.x] = 1.0f;
}
