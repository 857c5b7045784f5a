// Sums, differences and shifts that leave the range of 32 bits and come back inside.
#include <metal_stdlib>
using namespace metal;

//! [kernel.base_and_offset]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = 2147483647
//! arguments.offset = 2147483647
kernel void base_and_offset(device const float* x, device float* y, constant int& base,
                            constant int& offset, uint i [[thread_position_in_grid]]) {
  y[i] = x[base + offset + 2 + int(i)]; // BUG index-overflow
}

//! [kernel.ends_of_a_range]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.low = 2147483647
//! arguments.high = 2147483647
kernel void ends_of_a_range(device const float* x, device float* y, constant int& low,
                            constant int& high, uint i [[thread_position_in_grid]]) {
  device const float* centre = x + 32;
  y[i] = centre[low + high]; // BUG index-overflow
}

//! [kernel.four_steps]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.step = 1073741824
kernel void four_steps(device const float* x, device float* y, constant int& step,
                       uint i [[thread_position_in_grid]]) {
  int at = step + step; // MAYBE index-overflow
  at = at + step + step; // MAYBE index-overflow
  y[i] = x[at + int(i)]; // BUG index-overflow
}

//! [kernel.increment_and_double]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.base = 2147483647
kernel void increment_and_double(device const float* x, device float* y, constant int& base,
                                 uint i [[thread_position_in_grid]]) {
  int at = (base + 1) * 2; // MAYBE index-overflow
  y[i] = x[at + int(i)];   // BUG index-overflow
}

//! [kernel.index_from_data]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.index = { dtype = "int32", shape = [32], fill = 1073741824 }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void index_from_data(device const float* x, device const int* index, device float* y,
                            uint i [[thread_position_in_grid]]) {
  y[i] = x[index[i] * 4 + int(i)]; // BUG index-overflow
}

//! [kernel.offset_of_a_tile]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.offset = 67108864
kernel void offset_of_a_tile(device const float* x, device float* y, constant int& offset,
                             uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  tile[i] = x[i];
  tile[i + 32] = x[i + 32];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = tile[offset * 64 + int(i)]; // BUG index-overflow
}

//! [kernel.shifted]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.rows = 65536
kernel void shifted(device const float* x, device float* y, constant int& rows,
                    uint i [[thread_position_in_grid]]) {
  y[i] = x[(rows << 16) + int(i)]; // BUG index-overflow
}

//! [kernel.twice_the_least]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.stride = -2147483648
kernel void twice_the_least(device const float* x, device float* y, constant int& stride,
                            uint i [[thread_position_in_grid]]) {
  y[i] = x[stride * 2 + int(i)]; // BUG index-overflow
}
