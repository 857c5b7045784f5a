// Indices computed in types that hold them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.widened_first]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 100000
//! arguments.stride = 65536
kernel void widened_first(device const float* x, device float* y, constant int& rows,
                          constant int& stride, uint i [[thread_position_in_grid]]) {
  long at = long(rows) * stride;
  y[i] = x[(at & 31) + i];
}

//! [kernel.size_t_product]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.batch = 3000
//! arguments.rows = 1024
//! arguments.columns = 1024
kernel void size_t_product(device const float* x, device float* y, constant uint& batch,
                           constant uint& rows, constant uint& columns,
                           uint i [[thread_position_in_grid]]) {
  ulong at = ulong(batch) * rows * columns;
  y[i] = x[(at >> 63) + i];
}

//! [kernel.small_numbers]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = 3
kernel void small_numbers(device const float* x, device float* y, constant int& stride,
                          uint i [[thread_position_in_grid]]) {
  y[i] = x[(int(i) * stride) & 63];
}

//! [kernel.up_to_the_largest_int]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = 2147483615
kernel void up_to_the_largest_int(device const float* x, device float* y, constant int& base,
                                  uint i [[thread_position_in_grid]]) {
  int at = base + int(i) + 1;
  y[i] = x[at & 63];
}

//! [kernel.middle_of_a_search]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.low = 2000000000
//! arguments.high = 2100000000
kernel void middle_of_a_search(device const float* x, device float* y, constant int& low,
                               constant int& high, uint i [[thread_position_in_grid]]) {
  int middle = low + (high - low) / 2;
  y[i] = x[(middle + int(i)) & 63];
}

//! [kernel.clamped_before_the_sum]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = 2147483000
kernel void clamped_before_the_sum(device const float* x, device float* y, constant int& base,
                                   uint i [[thread_position_in_grid]]) {
  int at = min(base, 1000000) + int(i);
  y[i] = x[at & 63];
}

//! [kernel.negative_indices]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void negative_indices(device const float* x, device float* y,
                             uint i [[thread_position_in_grid]]) {
  int at = int(i) - 5;
  y[i] = x[at < 0 ? at + 64 : at];
}

//! [kernel.just_fits]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.size = 46340
kernel void just_fits(device const float* x, device float* y, constant int& size,
                      uint i [[thread_position_in_grid]]) {
  int count = size * size;
  y[i] = int(i) < count ? x[i] : 0.0f;
}

//! [kernel.most_negative_plus_something]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void most_negative_plus_something(device const float* x, device float* y,
                                         uint i [[thread_position_in_grid]]) {
  int at = int(0x80000000) + int(i);
  y[i] = x[at & 63];
}
