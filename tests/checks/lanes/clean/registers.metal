// Lanes exchange values in registers, which needs no barrier.
#include <metal_stdlib>
using namespace metal;

//! [kernel.sum]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "uninitialised" }
kernel void sum(device const float* x, device float* y, uint t [[thread_position_in_threadgroup]]) {
  float sum = simd_sum(x[t]);
  if (t == 0) {
    y[0] = sum;
  }
}

//! [kernel.shuffles]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void shuffles(device const float* x, device float* y,
                     uint t [[thread_position_in_threadgroup]]) {
  float value = x[t];
  for (ushort d = 1; d < 32; d <<= 1) {
    float left = simd_shuffle_up(value, d);
    value += t >= d ? left : 0.0f;
  }
  y[t] = value;
}

//! [kernel.matrices]
//! threads = [32]
//! threadgroup = [32]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.b = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.c = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void matrices(device const float* a, device const float* b, device float* c) {
  simdgroup_float8x8 left, right, product;
  simdgroup_load(left, a, 8);
  simdgroup_load(right, b, 8);
  simdgroup_multiply(product, left, right);
  simdgroup_store(product, c, 8);
}

//! [kernel.own_element_again]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void own_element_again(device const float* x, device float* y,
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[32];
  tile[t] = x[t];
  tile[t] += 1.0f;
  y[t] = tile[t];
}

//! [kernel.in_place]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
kernel void in_place(device float* x, uint t [[thread_position_in_threadgroup]]) {
  x[t] = x[t] * 2.0f;
}
