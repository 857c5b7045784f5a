// Several threads write the same value, or one is chosen.
#include <metal_stdlib>
using namespace metal;

//! [kernel.any]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.found = { dtype = "uint32", shape = [1], fill = "zeros" }
kernel void any(device const float* x, device uint* found, uint i [[thread_position_in_grid]]) {
  if (x[i] > 10.0f) {
    found[0] = 1;
  }
}

//! [kernel.visited_flags]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.next = { dtype = "int32", shape = [128], fill = "iota" }
//! arguments.visited = { dtype = "uint32", shape = [128], fill = "zeros" }
kernel void visited_flags(device const int* next, device uint* visited,
                          uint i [[thread_position_in_grid]]) {
  visited[next[i] / 3] = 1;
}

//! [kernel.one_winner]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.taken = { dtype = "uint32", shape = [1], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "zeros" }
kernel void one_winner(device const float* x, device atomic_uint* taken, device float* y,
                       uint i [[thread_position_in_grid]]) {
  if (atomic_exchange_explicit(taken, 1u, memory_order_relaxed) == 0) {
    y[0] = x[i] * 0.0f + 1.0f;
  }
}

//! [kernel.parameters_from_every_threadgroup]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.y = { dtype = "float32", shape = [4], fill = "uninitialised" }
kernel void parameters_from_every_threadgroup(device float* y,
                                              uint t [[thread_position_in_threadgroup]],
                                              uint size [[threads_per_threadgroup]]) {
  if (t < 4) {
    y[t] = float(size * (t + 1));
  }
}
