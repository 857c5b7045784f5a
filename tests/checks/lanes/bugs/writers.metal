// Lanes of one simdgroup write one place.
#include <metal_stdlib>
using namespace metal;

//! [kernel.all_lanes_write_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void all_lanes_write_one(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float last;
  last = x[t]; // BUG lane-race|race-write-write
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    y[0] = last;
  }
}

//! [kernel.histogram]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [4], fill = "uninitialised" }
kernel void histogram(device const uint* x, device uint* y,
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint bins[4];
  if (t < 4) {
    bins[t] = 0;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  bins[x[t] & 3] += 1; // BUG lane-race|race-write-write
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    y[t] = bins[t];
  }
}

//! [kernel.too_few_outputs]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [16], fill = "uninitialised" }
kernel void too_few_outputs(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  y[t / 2] = x[t]; // BUG lane-race|race-write-write
}

//! [kernel.overlapping_pairs]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [33], fill = "zeros" }
kernel void overlapping_pairs(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[2 * t];         // BUG lane-race|race-write-write
  y[t + 1] = x[2 * t + 1]; // BUG lane-race|race-write-write
}

//! [kernel.counter]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
kernel void counter(device const uint* x, device uint* count,
                    uint t [[thread_position_in_threadgroup]]) {
  if (x[t] & 1) {
    count[0] += x[t]; // BUG lane-race|race-write-write
  }
}

//! [kernel.smooth_in_place]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [34], fill = "iota" }
kernel void smooth_in_place(device float* x, uint t [[thread_position_in_threadgroup]]) {
  float value = x[t] + x[t + 2]; // WITH
  x[t + 1] = 0.5f * value + 1.0f; // BUG lane-race|race-write-write
}

//! [kernel.bytes_and_words]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [8], fill = "uninitialised" }
kernel void bytes_and_words(device const uchar* x, device uint* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup uchar bytes[32];
  bytes[t] = x[t]; // WITH
  if (t < 8) {
    y[t] = ((threadgroup const uint*)bytes)[t]; // BUG lane-race|race-write-write
  }
}
