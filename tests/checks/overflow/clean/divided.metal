// Numbers that wrap around because they shall, and linear indices that fit.
#include <metal_stdlib>
using namespace metal;

//! [kernel.tensor_that_fits]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.stride = 100000
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void tensor_that_fits(constant uint& w, constant uint& stride, device uint* y,
                             uint i [[thread_position_in_grid]]) {
  uint linear = (i + 64) * stride;
  y[linear / w] = linear % w;
}

//! [kernel.tensor_in_64_bits]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.stride = 100000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void tensor_in_64_bits(constant uint& w, constant uint& stride, device uint* y,
                              uint i [[thread_position_in_grid]]) {
  ulong linear = ulong(i + 64) * stride;
  y[linear / w % 65536] = i;
}

//! [kernel.hash_by_remainder]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 5
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void hash_by_remainder(constant uint& w, device uint* y,
                              uint i [[thread_position_in_grid]]) {
  uint hash = i * 2654435761u + w;
  y[hash % 1009] = i;
}

//! [kernel.hash_by_shift]
//! threads = [64]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void hash_by_shift(device uint* y,
                          uint i [[thread_position_in_grid]]) {
  y[(i * 2654435769u) >> 20] = i;
}

//! [kernel.random_numbers]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void random_numbers(constant uint& w, device uint* y,
                           uint i [[thread_position_in_grid]]) {
  uint state = i;
  for (uint k = 0; k < 4; ++k)
    state = state * 1664525u + 1013904223u;
  y[i + 32768] = y[state % w];
}

//! [kernel.remainder_by_a_power_of_two]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1
//! arguments.stride = 90000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void remainder_by_a_power_of_two(constant uint& w, constant uint& stride, device uint* y,
                                        uint i [[thread_position_in_grid]]) {
  uint step = i * stride;
  y[step % 64] = i;
}

//! [kernel.ring_by_a_mask]
//! threads = [1024]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void ring_by_a_mask(device uint* y,
                           uint i [[thread_position_in_grid]]) {
  y[(i * 3000) & 0xffff] = i;
}

//! [kernel.ring_of_bytes]
//! threads = [64]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void ring_of_bytes(device uint* y,
                          uint i [[thread_position_in_grid]]) {
  y[uchar(i + 250)] = i;
}

//! [kernel.permutation]
//! threads = [64]
//! threadgroup = [64]
//! arguments.p = { dtype = "uint8", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void permutation(device const uchar* p, device uint* y,
                        uint i [[thread_position_in_grid]]) {
  uchar at = p[i] + 200;
  y[i] = p[uchar(p[at] + i)];
}

//! [kernel.byte_of_a_product]
//! threads = [64]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void byte_of_a_product(device uint* y,
                              uint i [[thread_position_in_grid]]) {
  y[uchar((i * 5) & 0xff)] = i;
}

//! [kernel.bytes_that_fit]
//! threads = [64]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void bytes_that_fit(device uint* y,
                           uint i [[thread_position_in_grid]]) {
  uchar at = uchar(i * 4);
  y[at] = i;
}

//! [kernel.rows_that_are_left]
//! threads = [64]
//! threadgroup = [64]
//! arguments.rows = 40000
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void rows_that_are_left(constant int& rows, device uint* y,
                               uint i [[thread_position_in_grid]]) {
  short left = short(min(32, rows - int(i)));
  y[i * 64 + min(short(i), left)] = i;
}

//! [kernel.shorts_that_fit]
//! threads = [1024]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void shorts_that_fit(device uint* y,
                            uint i [[thread_position_in_grid]]) {
  ushort k = ushort(i) * ushort(60);
  short below = short(i) - 5;
  y[k + uint(below + 5)] = i;
}

//! [kernel.packed_in_halves]
//! threads = [1024]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void packed_in_halves(device uint* y,
                             uint i [[thread_position_in_grid]]) {
  uint packed = i << 16 | (i + 1);
  y[packed >> 16] = packed & 0xffff;
}

//! [kernel.behind_a_guard]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.stride = 1000000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void behind_a_guard(constant uint& w, constant uint& stride, device uint* y,
                           uint i [[thread_position_in_grid]]) {
  uint linear = i * stride;
  if (i < 4)
    y[linear / w % 65536] = i;
}
