// Arguments that must be the same for all lanes differ between them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.broadcast_lane]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void broadcast_lane(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], t / 8); // BUG non-uniform-argument
}

//! [kernel.broadcast_lane_from_data]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void broadcast_lane_from_data(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  ushort source = ushort(x[t]) & 7;
  y[t] = simd_broadcast(x[t], source); // BUG non-uniform-argument
}

//! [kernel.shuffle_down_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void shuffle_down_delta(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_down(x[t], t & 3); // BUG non-uniform-argument
}

//! [kernel.shuffle_up_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void shuffle_up_delta(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_up(x[t], t < 16 ? 1 : 2); // BUG non-uniform-argument
}

//! [kernel.shuffle_xor_mask]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void shuffle_xor_mask(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_xor(x[t], (t >> 1) & 7); // BUG non-uniform-argument
}

//! [kernel.rotate_down_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void rotate_down_delta(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_rotate_down(x[t], t); // BUG non-uniform-argument
}

//! [kernel.rotate_up_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void rotate_up_delta(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_rotate_up(x[t], 31 - t); // BUG non-uniform-argument
}

//! [kernel.fill_down_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void fill_down_delta(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_and_fill_down(x[t], 0.0f, 1 + (t & 1)); // BUG non-uniform-argument
}

//! [kernel.fill_up_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void fill_up_delta(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_and_fill_up(x[t], 0.0f, 1 + (t & 1)); // BUG non-uniform-argument
}

//! [kernel.quad_broadcast_lane]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_broadcast_lane(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_broadcast(x[t], t & 3); // BUG non-uniform-argument
}

//! [kernel.quad_shuffle_xor_mask]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_shuffle_xor_mask(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_shuffle_xor(x[t], t & 1 ? 1 : 2); // BUG non-uniform-argument
}

//! [kernel.quad_shuffle_down_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_shuffle_down_delta(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_shuffle_down(x[t], t & 1); // BUG non-uniform-argument
}

//! [kernel.delta_that_grows_in_a_loop]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void delta_that_grows_in_a_loop(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  float sum = 0;
  for (ushort k = 0; k < 3; ++k) {
    sum += simd_shuffle_xor(x[t], k + (t >> 4)); // BUG non-uniform-argument
  }
  y[t] = sum;
}

//! [kernel.in_a_helper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
static float from_lane(float value, ushort lane) {
  return simd_broadcast(value, lane); // BUG non-uniform-argument
}
kernel void in_a_helper(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  y[t] = from_lane(x[t], 5) + from_lane(x[t], t & 1);
}

//! [kernel.quad_shuffle_up_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_shuffle_up_delta(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_shuffle_up(x[t], t & 1); // BUG non-uniform-argument
}

//! [kernel.quad_rotation]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_rotation(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_shuffle_rotate_down(x[t], (t >> 1) & 1); // BUG non-uniform-argument
}

//! [kernel.half_values]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void half_values(device const float* x, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  y[t] = float(simd_shuffle_xor(half(x[t]), 1 + (t & 1))); // BUG non-uniform-argument
}

//! [kernel.components_of_vectors]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void components_of_vectors(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(float2(x[t], 1.0f), t >> 3).x; // BUG non-uniform-argument
}

//! [kernel.delta_from_data]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void delta_from_data(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  ushort distance = ushort(x[t]) % 3;
  y[t] = simd_shuffle_down(x[t], distance); // BUG non-uniform-argument
}

//! [kernel.delta_of_the_own_parity]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void delta_of_the_own_parity(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  ushort delta = 1;
  if (t & 1) {
    delta = 2;
  }
  y[t] = simd_shuffle_up(x[t], delta); // BUG non-uniform-argument
}

//! [kernel.one_lane_differs]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void one_lane_differs(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], t == 30 ? 1 : 0); // BUG non-uniform-argument
}

//! [kernel.quad_fill_delta]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_fill_delta(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_shuffle_and_fill_down(x[t], 0.0f, t & 1); // BUG non-uniform-argument
}
