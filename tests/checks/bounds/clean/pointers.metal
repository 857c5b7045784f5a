// Null pointers that are not followed, and types whose alignment is small.
#include <metal_stdlib>
using namespace metal;

//! [kernel.optional_bias]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.use = 0
kernel void optional_bias(device const float* x, device float* y, constant uint& use,
                          uint i [[thread_position_in_grid]]) {
  device const float* bias = use != 0 ? x : nullptr;
  y[i] = x[i] + (bias != nullptr ? bias[i] : 0.0f);
}

//! [kernel.packed_vectors]
//! threads = [21]
//! threadgroup = [21]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [63], fill = "uninitialised" }
kernel void packed_vectors(device const float* x, device float* y,
                           uint i [[thread_position_in_grid]]) {
  packed_float3 value = *(device const packed_float3*)(x + 1 + i * 3);
  *(device packed_float3*)(y + i * 3) = value;
}

//! [kernel.vectors_at_aligned_places]
//! threads = [15]
//! threadgroup = [15]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [60], fill = "uninitialised" }
kernel void vectors_at_aligned_places(device const float* x, device float4* y,
                                      uint i [[thread_position_in_grid]]) {
  y[i] = *(device const float4*)(x + 4 + i * 4);
}

//! [kernel.words_from_bytes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint8", shape = [129], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void words_from_bytes(device const uchar* x, device uint* y,
                             uint i [[thread_position_in_grid]]) {
  device const uchar* at = x + 1 + i * 4;
  y[i] = uint(at[0]) | uint(at[1]) << 8 | uint(at[2]) << 16 | uint(at[3]) << 24;
}

//! [kernel.const_parameter_of_a_writable_buffer]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void const_parameter_of_a_writable_buffer(device const float* x, device float* y,
                                                 uint i [[thread_position_in_grid]]) {
  device const float* view = y;
  y[i] = x[i];
  y[i] += view[i];
}
