// Values from lanes that a simdgroup or a quadgroup has not.
#include <metal_stdlib>
using namespace metal;

//! [kernel.right_neighbour]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void right_neighbour(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  float next = simd_shuffle(x[t], t + 1); // BUG lane-out-of-range
  y[t] = next; // MAYBE lane-out-of-range
}

//! [kernel.left_neighbour]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void left_neighbour(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  float before = simd_shuffle(x[t], t - 1); // BUG lane-out-of-range
  y[t] = x[t] - before; // MAYBE lane-out-of-range
}

//! [kernel.xor_with_the_width]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void xor_with_the_width(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  float other = simd_shuffle_xor(x[t], 32); // BUG lane-out-of-range
  y[t] = other; // MAYBE lane-out-of-range
}

//! [kernel.one_step_too_many]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void one_step_too_many(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  float sum = x[t];
  for (uint step = 1; step <= 32; step *= 2) {
    sum += simd_shuffle_xor(sum, step); // BUG lane-out-of-range
  }
  y[t] = sum; // MAYBE lane-out-of-range
}

//! [kernel.index_of_the_thread]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void index_of_the_thread(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  float first = simd_shuffle(x[t], t & ~7u); // BUG lane-out-of-range
  y[t] = first; // MAYBE lane-out-of-range
}

//! [kernel.fifth_of_a_quadgroup]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void fifth_of_a_quadgroup(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  float next = quad_shuffle(x[t], (t & 3) + 1); // BUG lane-out-of-range
  y[t] = next; // MAYBE lane-out-of-range
}

//! [kernel.broadcast_of_lane_32]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void broadcast_of_lane_32(device const float* x, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  float last = simd_broadcast(x[t], 32); // BUG lane-out-of-range
  y[t] = last; // MAYBE lane-out-of-range
}
