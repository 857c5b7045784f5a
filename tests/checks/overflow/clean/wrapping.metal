// Arithmetic that wraps on purpose, and is no index before it is reduced.
#include <metal_stdlib>
using namespace metal;

//! [kernel.hash_table]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void hash_table(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  uint hash = i * 2654435761u;
  y[i] = x[hash >> 26];
}

//! [kernel.hash_modulo]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void hash_modulo(device const float* x, device float* y,
                        uint i [[thread_position_in_grid]]) {
  uint hash = 2166136261u;
  for (uint k = 0; k < 4; ++k) {
    hash = (hash ^ (i >> (8 * k) & 255)) * 16777619u;
  }
  y[i] = x[hash % 64];
}

//! [kernel.linear_congruences]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void linear_congruences(device uint* y, uint i [[thread_position_in_grid]]) {
  uint state = i;
  for (uint k = 0; k < 10; ++k) {
    state = state * 1664525u + 1013904223u;
  }
  y[i] = state;
}

//! [kernel.unsigned_wrap_and_back]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void unsigned_wrap_and_back(device const float* x, device float* y,
                                   uint i [[thread_position_in_grid]]) {
  uint before = i - 1;
  y[i] = x[before + 1];
}

//! [kernel.ring]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void ring(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[(i - 3) & 63];
}

//! [kernel.counting_down]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void counting_down(device const float* x, device float* y,
                          uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 8; k-- > 0;) {
    sum += x[i + k];
  }
  y[i] = sum;
}

//! [kernel.shifts_of_a_generator]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void shifts_of_a_generator(device uint* y, uint i [[thread_position_in_grid]]) {
  uint state = i + 1;
  for (uint k = 0; k < 5; ++k) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  y[i] = state;
}

//! [kernel.multiplication_of_big_integers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.y = { dtype = "uint64", shape = [32], fill = "uninitialised" }
kernel void multiplication_of_big_integers(device ulong* y, uint i [[thread_position_in_grid]]) {
  ulong a = 0xfffffffffffffff0ul + i, b = 0x123456789abcdef1ul;
  y[i] = a * b + mulhi(a, b);
}

//! [kernel.offset_added_as_unsigned]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void offset_added_as_unsigned(device const float* x, device float* y,
                                     uint i [[thread_position_in_grid]]) {
  int offset = -int(i);
  device const float* last = x + 63;
  y[i] = last[offset];
}

//! [kernel.digits_of_a_radix_sort]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [32], fill = "uninitialised" }
kernel void digits_of_a_radix_sort(device const uint* x, device uint* y,
                                   uint i [[thread_position_in_grid]]) {
  uint key = x[i] ^ 0x80000000u;
  y[(key << 3 >> 3) & 31] = key;
}

//! [kernel.values_that_are_no_indices]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void values_that_are_no_indices(device const int* x, device int* y,
                                       uint i [[thread_position_in_grid]]) {
  uint sum = uint(x[i]) + 0xfffffff0u;
  y[i] = int(sum);
}
