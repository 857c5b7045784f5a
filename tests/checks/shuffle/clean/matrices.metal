// Functions of simdgroup matrices that all lanes of a simdgroup call.
#include <metal_stdlib>
using namespace metal;

//! [kernel.whole_simdgroups_take_part]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void whole_simdgroups_take_part(device const float* a, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  if (t < 32) {
    simdgroup_float8x8 m;
    simdgroup_load(m, a, 8);
    simdgroup_store(m, y, 8);
  }
}

//! [kernel.behind_a_branch]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void behind_a_branch(device const float* a, device float* y,
                            uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  if (t < 16) {
    for (uint k = 0; k < 4; ++k)
      tile[t * 4 + k] = a[t * 4 + k];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);
  simdgroup_store(m, y, 8);
}

//! [kernel.guard_that_none_fails]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
//! arguments.n = 64
kernel void guard_that_none_fails(device const float* a, device float* y, constant uint& n,
                                  uint t [[thread_position_in_grid]],
                                  uint sg [[simdgroup_index_in_threadgroup]]) {
  if (t >= n)
    return;
  simdgroup_float8x8 m;
  simdgroup_load(m, a + sg * 64, 8);
  simdgroup_multiply(m, m, m);
  simdgroup_store(m, y + sg * 64, 8);
}

//! [kernel.rounds_by_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void rounds_by_simdgroup(device const float* a, device float* y,
                                uint sg [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 m, sum(0.0f);
  simdgroup_load(m, a, 8);
  for (uint k = 0; k <= sg; ++k) {
    simdgroup_multiply_accumulate(sum, m, m, sum);
  }
  simdgroup_store(sum, y + sg * 64, 8);
}

//! [kernel.filled_by_some_lanes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void filled_by_some_lanes(device const float* a, device float* y,
                                 uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  if (t < 16) {
    m.thread_elements()[0] = 0.0f;
  }
  simdgroup_store(m, y, 8);
}

//! [kernel.with_an_assumed_grid]
kernel void with_an_assumed_grid(device const float* a, device float* y,
                                 uint t [[thread_position_in_grid]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a + t / 32 * 64, 8);
  simdgroup_store(m, y + t / 32 * 64, 8);
}
