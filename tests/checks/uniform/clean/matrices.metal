// Simdgroup matrices at places that all lanes agree on.
#include <metal_stdlib>
using namespace metal;

//! [kernel.pointer_of_the_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void pointer_of_the_simdgroup(device const float* a, device float* y,
                                     uint sg [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a + sg * 64, 8);
  simdgroup_store(m, y + sg * 64, 8);
}

//! [kernel.pointer_by_thread_number]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void pointer_by_thread_number(device const float* a, device float* y,
                                     uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a + (t / 32) * 64, 8);
  simdgroup_store(m, y + (t & ~31u) * 2, 8);
}

//! [kernel.stride_from_an_argument]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
//! arguments.n = 16
kernel void stride_from_an_argument(device const float* a, device float* y, constant uint& n) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, n, ulong2(8, 0));
  simdgroup_store(m, y, n / 2);
}

//! [kernel.tiles_of_a_loop]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [256], fill = "uninitialised" }
kernel void tiles_of_a_loop(device const float* a, device float* y) {
  for (uint row = 0; row < 16; row += 8) {
    for (uint column = 0; column < 16; column += 8) {
      simdgroup_float8x8 m;
      simdgroup_load(m, a + row * 16 + column, 16);
      simdgroup_store(m, y + column * 16 + row, 16, ulong2(0, 0), true);
    }
  }
}

//! [kernel.transpose_by_a_vote]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void transpose_by_a_vote(device const float* a, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  bool turn = simd_all(a[t] >= 0.0f);
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8, ulong2(0, 0), turn);
  simdgroup_store(m, y, 8);
}

//! [kernel.through_threadgroup_memory]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void through_threadgroup_memory(device const float* a, device float* y,
                                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = a[t];
  tile[t + 32] = a[t + 32];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m, n;
  simdgroup_load(m, tile, 8);
  simdgroup_multiply(n, m, m);
  simdgroup_store(n, y, 8);
}
