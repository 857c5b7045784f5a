// Sums, differences and shifts that leave the range of int.
#include <metal_stdlib>
using namespace metal;

//! [kernel.base_and_thread]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = 2147483640
kernel void base_and_thread(device const float* x, device float* y, constant int& base,
                            uint i [[thread_position_in_grid]]) {
  int at = base + int(i); // BUG index-overflow
  y[i] = x[at & 63];
}

//! [kernel.base_minus_thread]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = -2147483640
kernel void base_minus_thread(device const float* x, device float* y, constant int& base,
                              uint i [[thread_position_in_grid]]) {
  int at = base - int(i); // BUG index-overflow
  y[i] = x[at & 63];
}

//! [kernel.accumulated_in_a_loop]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.step = 900000000
kernel void accumulated_in_a_loop(device const float* x, device float* y, constant int& step,
                                  uint i [[thread_position_in_grid]]) {
  int at = 0;
  for (int k = 0; k < 4; ++k) {
    at += step; // BUG index-overflow
  }
  y[i] = x[(at + int(i)) & 63];
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
  int middle = (low + high) / 2; // BUG index-overflow
  y[i] = x[(middle + int(i)) & 63];
}

//! [kernel.negated]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = -2147483647
kernel void negated(device const float* x, device float* y, constant int& rows,
                    uint i [[thread_position_in_grid]]) {
  int at = -(rows - 1); // BUG index-overflow
  y[i] = x[(at & 1) + int(i)];
}

//! [kernel.increment]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = 2147483647
kernel void increment(device const float* x, device float* y, constant int& base,
                      uint i [[thread_position_in_grid]]) {
  int at = base;
  ++at; // BUG index-overflow
  y[i] = x[(at & 3) + int(i)];
}

//! [kernel.index_from_data]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.index = { dtype = "int32", shape = [32], fill = 2147483600 }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void index_from_data(device const float* x, device const int* index, device float* y,
                            uint i [[thread_position_in_grid]]) {
  int at = index[i] + 100; // BUG index-overflow
  y[i] = x[at & 63];
}

//! [kernel.offset_of_a_tile]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.offset = 2147483000
kernel void offset_of_a_tile(device const float* x, device float* y, constant int& offset,
                             uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  tile[i] = x[i];
  tile[i + 32] = x[i + 32];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[(offset + int(i) * 100) & 63]; // BUG index-overflow
}

//! [kernel.rows_and_columns_to_bytes]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 1000000
//! arguments.columns = 4000
kernel void rows_and_columns_to_bytes(device const uchar* x, device float* y, constant int& rows,
                                      constant int& columns, uint i [[thread_position_in_grid]]) {
  int bytes = rows * columns; // BUG index-overflow
  y[i] = *(device const float*)(x + (bytes & 28) + i * 4);
}

//! [kernel.long_product]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.big = 4611686018427387904
kernel void long_product(device const float* x, device float* y, constant long& big,
                         uint i [[thread_position_in_grid]]) {
  long at = big * (long(i) + 2); // BUG index-overflow
  y[i] = x[at & 63];
}
