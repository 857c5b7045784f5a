// A barrier lies between the two accesses, but its flags do not cover threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.flag_none]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void flag_none(device const float* x, device float* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t]; // WITH
  threadgroup_barrier(mem_flags::mem_none);
  y[t] = tile[63 - t]; // BUG weak-memory-flags
}

//! [kernel.flag_device]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void flag_device(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t]; // WITH
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = tile[63 - t]; // BUG weak-memory-flags
}

//! [kernel.flag_none_before_overwriting]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void flag_none_before_overwriting(device const float* x, device float* y,
                                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = tile[63 - t]; // WITH
  threadgroup_barrier(mem_flags::mem_none);
  tile[t] = x[64 + t]; // BUG weak-memory-flags
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = sum + tile[63 - t];
}
