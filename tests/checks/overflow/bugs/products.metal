// Products of rows and strides that do not fit 32 bits: they come out small, inside the buffer.
#include <metal_stdlib>
using namespace metal;

//! [kernel.row_times_stride]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 65536
//! arguments.stride = 65536
kernel void row_times_stride(device const float* x, device float* y, constant int& rows,
                             constant int& stride, uint i [[thread_position_in_grid]]) {
  int row = rows * stride; // MAYBE index-overflow
  y[i] = x[row + int(i)];  // BUG index-overflow
}

//! [kernel.batch_times_rows_times_columns]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.batch = 4096
//! arguments.rows = 1024
//! arguments.columns = 1024
kernel void batch_times_rows_times_columns(device const float* x, device float* y,
                                           constant int& batch, constant int& rows,
                                           constant int& columns,
                                           uint i [[thread_position_in_grid]]) {
  y[i] = x[batch * rows * columns + int(i)]; // BUG index-overflow
}

//! [kernel.thread_times_stride]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 134217728
kernel void thread_times_stride(device const float* x, device float* y, constant uint& stride,
                                uint i [[thread_position_in_grid]]) {
  uint at = i * 32 * stride; // BUG index-overflow
  y[i] = x[at];                  // MAYBE index-overflow
}

//! [kernel.in_an_index_expression]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 65536
kernel void in_an_index_expression(device const float* x, device float* y, constant uint& stride,
                                   uint i [[thread_position_in_grid]]) {
  y[i] = x[i * 65536 * stride + i]; // BUG index-overflow
}

//! [kernel.widened_too_late]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 65536
kernel void widened_too_late(device const float* x, device float* y, constant uint& stride,
                             uint i [[thread_position_in_grid]]) {
  ulong at = ulong(i * 65536 * stride); // BUG index-overflow
  y[i] = x[at + i]; // MAYBE index-overflow
}

//! [kernel.product_and_offset]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 65536
kernel void product_and_offset(device const float* x, device float* y, constant uint& stride,
                               uint i [[thread_position_in_grid]]) {
  y[i] = x[i * 65536 * stride + 7]; // BUG index-overflow
}

//! [kernel.in_a_helper]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.size = 65536
static int flatten(int3 at, int3 size) {
  return (at.z * size.y + at.y) * size.x + at.x; // BUG index-overflow
}
kernel void in_a_helper(device const float* x, device float* y, constant int& size,
                        uint i [[thread_position_in_grid]]) {
  y[i] = x[flatten(int3(int(i), 0, 1), int3(size, size, 1))]; // MAYBE index-overflow
}

//! [kernel.square]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.size = 65536
kernel void square(device const float* x, device float* y, constant int& size,
                   uint i [[thread_position_in_grid]]) {
  y[i] = x[size * size + int(i)]; // BUG index-overflow
}

//! [kernel.store_index]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "zeros" }
//! arguments.stride = 65536
kernel void store_index(device const float* x, device float* y, constant uint& stride,
                        uint i [[thread_position_in_grid]]) {
  y[i * 65536 * stride + i] = x[i]; // BUG index-overflow
}

//! [kernel.unsigned_product]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 65536
//! arguments.stride = 65536
kernel void unsigned_product(device const float* x, device float* y, constant uint& rows,
                             constant uint& stride, uint i [[thread_position_in_grid]]) {
  y[i] = x[rows * stride + i]; // BUG index-overflow
}

//! [kernel.vectors]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [256], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 65536
//! arguments.stride = 65536
kernel void vectors(device const float4* x, device float* y, constant int& rows,
                    constant int& stride, uint i [[thread_position_in_grid]]) {
  y[i] = x[rows * stride + int(i)].w; // BUG index-overflow
}

//! [kernel.atomics]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "zeros" }
//! arguments.rows = 65536
//! arguments.stride = 65536
kernel void atomics(device const uint* x, device atomic_uint* y, constant int& rows,
                    constant int& stride, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&y[rows * stride + int(i)], x[i], memory_order_relaxed); // BUG index-overflow
}

//! [kernel.three_dimensions]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.height = 65536
//! arguments.width = 65536
kernel void three_dimensions(device const float* x, device float* y, constant uint& height,
                             constant uint& width, uint i [[thread_position_in_grid]]) {
  uint plane = 1;
  uint row = 0;
  y[i] = x[(plane * height + row) * width + i]; // BUG index-overflow
}

//! [kernel.rows_and_columns_to_bytes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 32768
//! arguments.columns = 32768
kernel void rows_and_columns_to_bytes(device const uchar* x, device float* y, constant int& rows,
                                      constant int& columns, uint i [[thread_position_in_grid]]) {
  int bytes = rows * columns * 4; // BUG index-overflow
  y[i] = *(device const float*)(x + bytes + int(i) * 4); // MAYBE index-overflow
}
