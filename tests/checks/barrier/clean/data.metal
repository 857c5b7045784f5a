// Conditions from memory that come out the same for all threads.
#include <metal_stdlib>
using namespace metal;

//! [kernel.vote_through_threadgroup_memory]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void vote_through_threadgroup_memory(device const float* x, device float* y,
                                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint more;
  float value = x[t];
  for (uint k = 0; k < 8; ++k) {
    if (t == 0) {
      more = 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (value > 10.0f) {
      more = 1;
      value *= 0.5f;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    bool again = more != 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!again) {
      break;
    }
  }
  y[t] = value;
}

//! [kernel.length_from_device_memory]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.length = { dtype = "uint32", shape = [2], fill = 3 }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void length_from_device_memory(device const float* x, device const uint* length,
                                      device float* y, uint t [[thread_position_in_threadgroup]],
                                      uint g [[threadgroup_position_in_grid]],
                                      uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  float value = x[i];
  for (uint k = 0; k < length[g]; ++k) {
    tile[t] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value += tile[63 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i] = value;
}

//! [kernel.same_number_of_iterations_by_strides]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void same_number_of_iterations_by_strides(device const float* x, device float* y,
                                                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  for (uint k = t; k < 128; k += 64) {
    tile[t] = x[k];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[k] = tile[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
