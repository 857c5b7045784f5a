// Matrix product by simdgroup matrices from tiles in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.simdgroup_matmul]
//! threadgroups = [2]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [256], fill = "random" }
//! arguments.b = { dtype = "float32", shape = [256], fill = "random" }
//! arguments.c = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void simdgroup_matmul(device const float* a, device const float* b, device float* c,
                             uint t [[thread_position_in_threadgroup]],
                             uint g [[threadgroup_position_in_grid]],
                             uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float left[64];
  threadgroup float right[128];
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < 16; k += 8) {
    left[t] = a[(g * 8 + t / 8) * 16 + k + t % 8];
    right[t] = b[(k + t / 16) * 16 + t % 16];
    right[t + 64] = b[(k + 4 + t / 16) * 16 + t % 16];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 m;
    simdgroup_float8x8 n;
    simdgroup_load(m, left, 8);
    simdgroup_load(n, right + sg * 8, 16);
    simdgroup_multiply_accumulate(sum, m, n, sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  simdgroup_store(sum, c + g * 128 + sg * 8, 16);
}
