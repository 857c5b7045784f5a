// Lanes that left a loop are read by lanes that stayed.
#include <metal_stdlib>
using namespace metal;

//! [kernel.trip_counts_differ]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void trip_counts_differ(device const float* x, device float* y,
                               uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  float value = x[lane];
  for (uint k = 0; k + lane < 32; ++k) {
    sum += simd_shuffle(value, k); // BUG inactive-lane-read
  }
  y[lane] = sum; // WITH
}

//! [kernel.left_by_break]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void left_by_break(device const float* x, device float* y,
                          uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  for (uint k = 0; k < 4; ++k) { // WITH
    if (value > 25.0f) {
      break;
    }
    value += simd_shuffle_xor(value, 8) + 1.0f; // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.neighbours_still_in_the_loop]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void neighbours_still_in_the_loop(device const float* x, device float* y,
                                         uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  while (value > 4.0f) { // WITH
    value = 0.4f * simd_shuffle_rotate_up(value, 1); // BUG inactive-lane-read
  }
  y[lane] = value; // WITH
}

//! [kernel.in_a_helper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
static float neighbours(float value) {
  return simd_shuffle_up(value, 1) + simd_shuffle_down(value, 1); // BUG inactive-lane-read
}
kernel void in_a_helper(device const float* x, device float* y,
                        uint lane [[thread_index_in_simdgroup]]) {
  float value = x[lane];
  if (lane > 4 && lane < 20) {
    value = neighbours(value);
  }
  y[lane] = value; // WITH
}

//! [kernel.source_from_data]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void source_from_data(device const float* x, device float* y,
                             uint lane [[thread_index_in_simdgroup]]) {
  ushort source = ushort(x[31 - lane]);
  if (lane & 2) {
    y[lane] = simd_shuffle(x[lane], source); // BUG inactive-lane-read
  } else {
    y[lane] = 0.0f;
  }
}
