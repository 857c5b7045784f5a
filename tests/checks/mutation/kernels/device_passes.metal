// Two passes over device memory in one threadgroup.
#include <metal_stdlib>
using namespace metal;

//! [kernel.device_passes]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "random" }
//! arguments.scratch = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void device_passes(device const float* x, device float* scratch, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  scratch[t] = x[t] * 2.0f;
  threadgroup_barrier(mem_flags::mem_device);
  float value = scratch[63 - t];
  threadgroup_barrier(mem_flags::mem_device);
  scratch[t ^ 1] = value + 1.0f;
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = scratch[(t + 7) & 63];
}
