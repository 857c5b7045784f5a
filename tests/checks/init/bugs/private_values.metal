// Variables of a thread that are used before they have a value.
#include <metal_stdlib>
using namespace metal;

//! [kernel.accumulator]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 4
kernel void accumulator(device const float* x, device float* y, constant uint& n,
                        uint i [[thread_position_in_grid]]) {
  float sum; // WITH
  for (uint k = 0; k < n; ++k) {
    sum += x[(i + k) & 31]; // WITH
  }
  y[i] = sum; // BUG uninitialised-read
}

//! [kernel.array_partly_filled]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 4
kernel void array_partly_filled(device const float* x, device float* y, constant uint& n,
                                uint i [[thread_position_in_grid]]) {
  float values[8]; // WITH
  for (uint k = 0; k < n; ++k) {
    values[k] = x[(i + k) & 31];
  }
  y[i] = values[i & 7]; // BUG uninitialised-read
}

//! [kernel.set_in_one_arm]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void set_in_one_arm(device const float* x, device float* y,
                           uint i [[thread_position_in_grid]]) {
  float value; // WITH
  if (x[i] > 4.0f) {
    value = x[i];
  }
  y[i] = value; // BUG uninitialised-read
}

//! [kernel.switch_without_default]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void switch_without_default(device const int* x, device int* y,
                                   uint i [[thread_position_in_grid]]) {
  int value; // WITH
  switch (x[i] & 3) {
    case 0: value = 10; break;
    case 1: value = 20; break;
    case 2: value = 30; break;
  }
  y[i] = value; // BUG uninitialised-read
}

//! [kernel.loop_that_does_not_run]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 0
kernel void loop_that_does_not_run(device const float* x, device float* y, constant uint& n,
                                   uint i [[thread_position_in_grid]]) {
  float last; // WITH
  for (uint k = 0; k < n; ++k) {
    last = x[k];
  }
  y[i] = last; // BUG uninitialised-read
}

//! [kernel.member_not_set]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void member_not_set(device const float* x, device float* y,
                           uint i [[thread_position_in_grid]]) {
  struct Pair {
    float sum;
    float count;
  };
  Pair pair; // WITH
  pair.sum = x[i];
  if (x[i] > 40.0f) {
    pair.count = 2.0f;
  }
  y[i] = pair.sum / pair.count; // BUG uninitialised-read
}

//! [kernel.component_not_set]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void component_not_set(device const float* x, device float* y,
                              uint i [[thread_position_in_grid]]) {
  float4 value; // WITH
  value.x = x[i];
  value.y = 1.0f;
  value.z = 2.0f;
  y[i] = dot(value, value); // BUG uninitialised-read
}

//! [kernel.result_used_though_not_found]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
static bool find(device const float* x, uint start, thread uint& place) {
  for (uint k = start; k < 32; ++k) {
    if (x[k] > 20.0f) {
      place = k;
      return true;
    }
  }
  return false;
}
kernel void result_used_though_not_found(device const float* x, device float* y,
                                         uint i [[thread_position_in_grid]]) {
  uint place; // WITH
  find(x, i + 25, place);
  y[i] = float(place); // BUG uninitialised-read
}

//! [kernel.lanes_beyond_the_end]
//! threads = [48]
//! threadgroup = [48]
//! arguments.x = { dtype = "float32", shape = [40], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [2], fill = "uninitialised" }
//! arguments.n = 40
kernel void lanes_beyond_the_end(device const float* x, device float* y, constant uint& n,
                                 uint i [[thread_position_in_grid]],
                                 uint lane [[thread_index_in_simdgroup]],
                                 uint sg [[simdgroup_index_in_threadgroup]]) {
  float value; // WITH
  if (i < n) {
    value = x[i];
  }
  float sum = simd_sum(value); // MAYBE uninitialised-read
  if (lane == 0) {
    y[sg] = sum; // BUG uninitialised-read
  }
}

//! [kernel.window_not_full]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 3
kernel void window_not_full(device const float* x, device float* y, constant uint& n,
                            uint i [[thread_position_in_grid]]) {
  float window[4]; // WITH
  for (uint k = 0; k < n; ++k) {
    window[k] = x[(i * k) & 31];
  }
  float most = window[0];
  for (uint k = 1; k <= n; ++k) {
    if (window[k] > most) { // MAYBE uninitialised-read
      most = window[k];     // MAYBE uninitialised-read
    }
  }
  y[i] = most; // BUG uninitialised-read
}
