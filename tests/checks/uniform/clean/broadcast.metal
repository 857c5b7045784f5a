// Arguments that are the same for all lanes, if not visibly so.
#include <metal_stdlib>
using namespace metal;

//! [kernel.lane_from_an_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 9
kernel void lane_from_an_argument(device const float* x, device float* y, constant uint& n,
                                  uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], n);
}

//! [kernel.lane_of_the_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void lane_of_the_simdgroup(device const float* x, device float* y,
                                  uint t [[thread_position_in_threadgroup]],
                                  uint sg [[simdgroup_index_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], 3 + sg);
}

//! [kernel.delta_of_a_loop]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void delta_of_a_loop(device const float* x, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  float sum = x[t];
  for (ushort d = 16; d > 0; d >>= 1) {
    sum += simd_shuffle_xor(sum, d);
  }
  y[t] = sum;
}

//! [kernel.same_quotient_in_all_lanes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void same_quotient_in_all_lanes(device const float* x, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], (t / 32) + 4);
}

//! [kernel.from_the_first_lane]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void from_the_first_lane(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  ushort source = simd_broadcast_first(ushort(31 - t));
  y[t] = simd_broadcast(x[t], source);
}

//! [kernel.result_of_a_vote]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void result_of_a_vote(device const float* x, device float* y,
                             uint t [[thread_position_in_threadgroup]]) {
  bool any = simd_any(x[t] > 20.0f);
  y[t] = simd_shuffle_down(x[t], any ? 2 : 4);
}

//! [kernel.least_of_all_lanes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void least_of_all_lanes(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  uint first = simd_min(x[t] > 6.5f ? t : 31);
  y[t] = simd_broadcast(x[t], first);
}

//! [kernel.from_threadgroup_memory]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void from_threadgroup_memory(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint source;
  if (t == 0) {
    source = uint(x[5]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = simd_broadcast(x[t], source);
}

//! [kernel.from_device_memory]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.index = { dtype = "uint32", shape = [1], fill = 6 }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void from_device_memory(device const float* x, device const uint* index, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], index[t & 0]);
}

//! [kernel.same_in_all_active_lanes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void same_in_all_active_lanes(device const float* x, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  if (t >= 16) {
    value = simd_broadcast(value, 15 + (t >> 4));
  }
  y[t] = value;
}

//! [kernel.shuffle_takes_any_lane]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void shuffle_takes_any_lane(device const float* x, device float* y,
                                   uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle(x[t], 31 - t) + quad_shuffle(x[t], 3 - (t & 3));
}

//! [kernel.equal_arms]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void equal_arms(device const float* x, device float* y,
                       uint t [[thread_position_in_threadgroup]]) {
  ushort delta = x[t] > 12.0f ? 3 : 1 + 2;
  y[t] = simd_shuffle_up(x[t], delta);
}

//! [kernel.quad_functions]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void quad_functions(device const float* x, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  y[t] = quad_broadcast(x[t], 2) + quad_shuffle_xor(x[t], 1) + quad_shuffle_up(x[t], 1);
}

//! [kernel.filling_may_differ]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void filling_may_differ(device const float* x, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  y[t] = simd_shuffle_and_fill_down(x[t], float(t), 3) + simd_shuffle_and_fill_up(x[t], 1.0f, 2);
}
