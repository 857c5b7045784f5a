// Products of rows and strides that do not fit 32 bits.
#include <metal_stdlib>
using namespace metal;

//! [kernel.row_times_stride]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 100000
//! arguments.stride = 65536
kernel void row_times_stride(device const float* x, device float* y, constant int& rows,
                             constant int& stride, uint i [[thread_position_in_grid]]) {
  int at = rows * stride; // BUG index-overflow
  y[i] = x[(at & 31) + int(i)];
}

//! [kernel.batch_times_rows_times_columns]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.batch = 3000
//! arguments.rows = 1024
//! arguments.columns = 1024
kernel void batch_times_rows_times_columns(device const float* x, device float* y,
                                           constant int& batch, constant int& rows,
                                           constant int& columns,
                                           uint i [[thread_position_in_grid]]) {
  int at = batch * rows * columns; // BUG index-overflow
  y[i] = x[(at >> 31 & 1) + int(i)];
}

//! [kernel.thread_times_stride]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 200000000
kernel void thread_times_stride(device const float* x, device float* y, constant int& stride,
                                uint i [[thread_position_in_grid]]) {
  int at = int(i) * stride; // BUG index-overflow
  y[i] = x[at & 63];
}

//! [kernel.in_an_index_expression]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 1073741824
kernel void in_an_index_expression(device const float* x, device float* y, constant int& stride,
                                   uint i [[thread_position_in_grid]]) {
  y[i] = x[(int(i) * stride) & 63]; // BUG index-overflow
}

//! [kernel.widened_too_late]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 2000000000
kernel void widened_too_late(device const float* x, device float* y, constant int& stride,
                             uint i [[thread_position_in_grid]]) {
  long at = long(int(i) * stride); // BUG index-overflow
  y[i] = x[at & 63];
}

//! [kernel.product_and_offset]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 1500000000
kernel void product_and_offset(device const float* x, device float* y, constant int& stride,
                               uint i [[thread_position_in_grid]]) {
  int at = int(i) * stride + 7; // BUG index-overflow
  y[i] = x[abs(at % 64)];
}

//! [kernel.in_a_helper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.size = 60000
static int flatten(int3 at, int3 size) {
  return (at.z * size.y + at.y) * size.x + at.x; // BUG index-overflow
}
kernel void in_a_helper(device const float* x, device float* y, constant int& size,
                        uint i [[thread_position_in_grid]]) {
  int at = flatten(int3(int(i), int(i), 1), int3(size, size, 1));
  y[i] = x[at & 63];
}

//! [kernel.square]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.size = 50000
kernel void square(device const float* x, device float* y, constant int& size,
                   uint i [[thread_position_in_grid]]) {
  int count = size * size; // BUG index-overflow
  y[i] = int(i) < count ? x[i] : x[(count & 1) + 1];
}

//! [kernel.store_index]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
//! arguments.stride = 134217728
kernel void store_index(device const float* x, device float* y, constant int& stride,
                        uint i [[thread_position_in_grid]]) {
  y[(int(i) * stride) & 63] = x[i]; // BUG index-overflow
}

//! [kernel.twice_the_largest]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 2147483647
kernel void twice_the_largest(device const float* x, device float* y, constant int& stride,
                              uint i [[thread_position_in_grid]]) {
  int at = stride * 2; // BUG index-overflow
  y[i] = x[(at & 1) + int(i)];
}
