// Pointers to nowhere, and accesses of the wrong kind.
#include <metal_stdlib>
using namespace metal;

//! [kernel.null_read]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.use = 0
kernel void null_read(device const float* x, device float* y, constant uint& use,
                      uint i [[thread_position_in_grid]]) {
  device const float* from = use != 0 ? x : nullptr;
  y[i] = from[i]; // BUG null-read
}

//! [kernel.null_write]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.use = 0
kernel void null_write(device const float* x, device float* y, constant uint& use,
                       uint i [[thread_position_in_grid]]) {
  device float* to = use != 0 ? y : nullptr;
  to[i] = x[i]; // BUG null-write
}

//! [kernel.misaligned_vector_load]
//! threads = [16]
//! threadgroup = [16]
//! arguments.x = { dtype = "float32", shape = [65], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void misaligned_vector_load(device const float* x, device float4* y,
                                   uint i [[thread_position_in_grid]]) {
  y[i] = ((device const float4*)(x + 1))[i]; // BUG misaligned
}

//! [kernel.misaligned_vector_store]
//! threads = [15]
//! threadgroup = [15]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void misaligned_vector_store(device const float4* x, device float* y,
                                    uint i [[thread_position_in_grid]]) {
  ((device float4*)(y + 2))[i] = x[i]; // BUG misaligned
}

//! [kernel.misaligned_word]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [129], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void misaligned_word(device const uchar* x, device uint* y,
                            uint i [[thread_position_in_grid]]) {
  y[i] = *(device const uint*)(x + 1 + i * 4); // BUG misaligned
}

//! [kernel.misaligned_atomic]
//! threads = [32]
//! threadgroup = [32]
//! arguments.counts = { dtype = "uint8", shape = [132], fill = "zeros" }
kernel void misaligned_atomic(device uchar* counts, uint i [[thread_position_in_grid]]) {
  device atomic_uint* count = (device atomic_uint*)(counts + 2 + i * 4);
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed); // BUG misaligned
}

//! [kernel.far_away]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void far_away(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[ulong(i) << 40]; // BUG out-of-bounds-read
}
