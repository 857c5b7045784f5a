// Functions of simdgroup matrices that only some lanes call.
#include <metal_stdlib>
using namespace metal;

//! [kernel.loaded_by_half]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void loaded_by_half(device const float* a, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m(0.0f);
  if (t < 16) { // MAYBE partial-simdgroup
    simdgroup_load(m, a, 8); // BUG partial-simdgroup
  }
  simdgroup_store(m, y, 8);
}

//! [kernel.stored_by_half]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
kernel void stored_by_half(device const float* a, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  if (t < 16) // MAYBE partial-simdgroup
    simdgroup_store(m, y, 8); // BUG partial-simdgroup
}

//! [kernel.multiplied_by_some]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void multiplied_by_some(device const float* a, device float* y,
                               uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m, sum(0.0f);
  simdgroup_load(m, a, 8);
  if (a[t] > 3.0f) // MAYBE partial-simdgroup
    simdgroup_multiply_accumulate(sum, m, m, sum); // BUG partial-simdgroup
  simdgroup_store(sum, y, 8);
}

//! [kernel.too_few_threads]
//! threads = [16]
//! threadgroup = [16]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
kernel void too_few_threads(device const float* a, device float* y) {
  simdgroup_float8x8 m, sum(0.0f);
  simdgroup_load(m, a, 8); // BUG partial-simdgroup
  simdgroup_multiply_accumulate(sum, m, m, sum);
  simdgroup_store(sum, y, 8);
}

//! [kernel.guard_of_the_grid]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "zeros" }
//! arguments.n = 50
kernel void guard_of_the_grid(device const float* a, device float* y, constant uint& n,
                              uint t [[thread_position_in_grid]],
                              uint sg [[simdgroup_index_in_threadgroup]]) {
  if (t >= n) // MAYBE partial-simdgroup
    return;
  simdgroup_float8x8 m;
  simdgroup_load(m, a + sg * 64, 8); // BUG partial-simdgroup
  simdgroup_store(m, y + sg * 64, 8);
}

//! [kernel.different_numbers_of_rounds]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void different_numbers_of_rounds(device const float* a, device float* y,
                                        uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m, sum(0.0f);
  simdgroup_load(m, a, 8);
  for (uint k = 0; k < 2 + t / 24; ++k) { // MAYBE partial-simdgroup
    simdgroup_multiply_accumulate(sum, m, m, sum); // BUG partial-simdgroup
  }
  simdgroup_store(sum, y, 8);
}
