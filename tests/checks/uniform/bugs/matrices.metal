// Places of simdgroup matrices that differ between lanes.
#include <metal_stdlib>
using namespace metal;

//! [kernel.load_pointer]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void load_pointer(device const float* a, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a + t, 8); // BUG non-uniform-argument
  simdgroup_store(m, y, 8);
}

//! [kernel.store_pointer]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void store_pointer(device const float* a, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  simdgroup_store(m, y + (t & 1) * 64, 8); // BUG non-uniform-argument
}

//! [kernel.load_stride]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void load_stride(device const float* a, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8 + t / 16); // BUG non-uniform-argument
  simdgroup_store(m, y, 8);
}

//! [kernel.store_stride]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [160], fill = "uninitialised" }
kernel void store_stride(device const float* a, device float* y,
                         uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
  simdgroup_store(m, y, t < 8 ? 8 : 16); // BUG non-uniform-argument
}

//! [kernel.load_origin]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void load_origin(device const float* a, device float* y,
                        uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 16, ulong2(t & 1, 0)); // BUG non-uniform-argument
  simdgroup_store(m, y, 8);
}

//! [kernel.load_transpose]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void load_transpose(device const float* a, device float* y,
                           uint t [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8, ulong2(0, 0), t > 15); // BUG non-uniform-argument
  simdgroup_store(m, y, 8);
}

//! [kernel.index_of_the_thread_instead_of_the_simdgroup]
//! threads = [64]
//! threadgroup = [64]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void index_of_the_thread_instead_of_the_simdgroup(device const float* a, device float* y,
                                                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[192];
  tile[t] = a[t];
  tile[t + 64] = a[t];
  tile[t + 128] = a[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile + t, 8); // BUG non-uniform-argument
  simdgroup_store(m, y, 8);
}
