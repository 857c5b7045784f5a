// Linear indices that wrapped around before they are divided or made shorter.
#include <metal_stdlib>
using namespace metal;

//! [kernel.row_of_a_large_tensor]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 100000
//! arguments.stride = 100000000
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void row_of_a_large_tensor(constant uint& w, constant uint& stride, device uint* y,
                                  uint i [[thread_position_in_grid]]) {
  uint linear = (i + 64) * stride; // BUG index-overflow
  y[linear / w] = i;
}

//! [kernel.column_of_a_large_tensor]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.stride = 100000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void column_of_a_large_tensor(constant uint& w, constant uint& stride, device uint* y,
                                     uint i [[thread_position_in_grid]]) {
  uint linear = (i + 64) * stride + 5; // BUG index-overflow
  y[linear % w] = i;
}

//! [kernel.both_coordinates]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.stride = 100000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void both_coordinates(constant uint& w, constant uint& stride, device uint* y,
                             uint i [[thread_position_in_grid]]) {
  uint linear = i * stride; // BUG index-overflow
  uint row = linear / w, column = linear % w;
  y[row % 64 * 1000 + column] = i;
}

//! [kernel.divided_by_a_constant]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1
//! arguments.stride = 90000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void divided_by_a_constant(constant uint& w, constant uint& stride, device uint* y,
                                  uint i [[thread_position_in_grid]]) {
  uint linear = i * stride; // BUG index-overflow
  y[linear / 100003] = i;
}

//! [kernel.divided_by_a_power_of_two]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1
//! arguments.stride = 90000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void divided_by_a_power_of_two(constant uint& w, constant uint& stride, device uint* y,
                                      uint i [[thread_position_in_grid]]) {
  uint linear = i * stride; // BUG index-overflow
  y[linear / 65536] = i;
}

//! [kernel.product_of_shorts]
//! threads = [1024]
//! threadgroup = [64]
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void product_of_shorts(device uint* y,
                              uint i [[thread_position_in_grid]]) {
  ushort k = ushort(i) * ushort(100); // BUG index-overflow
  y[k] = i;
}

//! [kernel.sum_of_shorts]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 65500
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void sum_of_shorts(constant uint& w, device uint* y,
                          uint i [[thread_position_in_grid]]) {
  ushort start = ushort(w);
  ushort k = start + ushort(i) * 2; // BUG index-overflow
  y[k] = i;
}

//! [kernel.short_coordinates]
//! threads = [1024]
//! threadgroup = [64]
//! arguments.w = 3000
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void short_coordinates(constant uint& w, device uint* y,
                              uint i [[thread_position_in_grid]]) {
  ushort2 p = ushort2(i % 32, i / 32);
  ushort2 start = p * ushort(w); // BUG index-overflow
  y[start.y] = i;
}

//! [kernel.product_of_bytes]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 5
//! arguments.stride = 1
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void product_of_bytes(constant uint& w, constant uint& stride, device uint* y,
                             uint i [[thread_position_in_grid]]) {
  uint scaled = i * w;
  uchar k = uchar(scaled + stride); // BUG index-overflow
  y[k] = i;
}

//! [kernel.clamped_after_it_was_made_short]
//! threads = [32]
//! threadgroup = [32]
//! arguments.w = 40000
//! arguments.stride = 1
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void clamped_after_it_was_made_short(constant uint& w, constant uint& stride,
                                            device uint* y, uint i [[thread_position_in_grid]]) {
  short left = min(short(32), short(max(0, int(w) - int(i)))); // BUG index-overflow
  y[i + uint(max(left, short(0)))] = i;
}

//! [kernel.divided_behind_a_wider_sum]
//! threads = [64]
//! threadgroup = [64]
//! arguments.w = 1000
//! arguments.stride = 100000001
//! arguments.y = { dtype = "uint32", shape = [65536], fill = "zeros" }
kernel void divided_behind_a_wider_sum(constant uint& w, constant uint& stride, device uint* y,
                                       uint i [[thread_position_in_grid]]) {
  ulong size = 1;
  size += i * stride; // BUG index-overflow
  y[size % w] = i;
}
