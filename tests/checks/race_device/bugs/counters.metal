// Counting, appending and taking the best without atomics.
#include <metal_stdlib>
using namespace metal;

//! [kernel.counter]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
kernel void counter(device const float* x, device uint* count, uint i [[thread_position_in_grid]]) {
  if (x[i] > 10.0f) {
    count[0] = count[0] + 1; // BUG race-read-write|race-write-write
  }
}

//! [kernel.append]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
//! arguments.y = { dtype = "float32", shape = [128], fill = "uninitialised" }
kernel void append(device const float* x, device uint* count, device float* y,
                   uint i [[thread_position_in_grid]]) {
  if ((i & 15) == 3) {
    uint slot = count[0]; // BUG race-read-write
    count[0] = slot + 1;  // BUG race-read-write|race-write-write
    y[i] = x[i] + float(slot);
  }
}

//! [kernel.histogram]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [128], fill = "iota" }
//! arguments.bins = { dtype = "uint32", shape = [8], fill = "zeros" }
kernel void histogram(device const uint* x, device uint* bins, uint i [[thread_position_in_grid]]) {
  bins[x[i] & 7]++; // BUG race-read-write|race-write-write
}

//! [kernel.most]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.best = { dtype = "float32", shape = [1], fill = "zeros" }
kernel void most(device const float* x, device float* best, uint i [[thread_position_in_grid]]) {
  if (x[i] > best[0]) { // BUG race-read-write
    best[0] = x[i];     // BUG race-read-write|race-write-write
  }
}

//! [kernel.accumulate_partial_sums]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [128], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [1], fill = "zeros" }
kernel void accumulate_partial_sums(device const float* x, device float* y,
                                    uint t [[thread_position_in_threadgroup]],
                                    uint i [[thread_position_in_grid]]) {
  float sum = simd_sum(x[i]);
  if (t == 0) {
    y[0] += sum; // BUG race-read-write|race-write-write
  }
}

//! [kernel.split_k]
//! threadgroups = [2, 2]
//! threadgroup = [8, 4]
//! arguments.a = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.b = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.c = { dtype = "float32", shape = [64], fill = "zeros" }
kernel void split_k(device const float* a, device const float* b, device float* c,
                    uint2 i [[thread_position_in_grid]],
                    uint2 g [[threadgroup_position_in_grid]]) {
  uint row = i.y & 7, column = i.x & 7;
  float sum = 0;
  for (uint k = g.x * 4; k < g.x * 4 + 4; ++k) {
    sum += a[row * 8 + k] * b[k * 8 + column];
  }
  c[row * 8 + column] += sum; // BUG race-read-write|race-write-write
}

//! [kernel.counter_cleared_inside]
//! threadgroups = [4]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [128], fill = "iota" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
kernel void counter_cleared_inside(device const uint* x, device atomic_uint* count,
                                   uint t [[thread_position_in_threadgroup]],
                                   uint i [[thread_position_in_grid]]) {
  if (t == 0) {
    ((device uint*)count)[0] = 0; // BUG race-read-write|race-write-write
  }
  atomic_fetch_add_explicit(count, x[i], memory_order_relaxed); // MAYBE race-read-write|race-write-write
}

//! [kernel.counter_read_plainly]
//! threadgroups = [2]
//! threadgroup = [32]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "iota" }
//! arguments.count = { dtype = "uint32", shape = [1], fill = "zeros" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
kernel void counter_read_plainly(device const uint* x, device atomic_uint* count, device uint* y,
                                 uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(count, x[i], memory_order_relaxed); // WITH
  y[i] = ((device uint*)count)[0]; // BUG race-read-write
}
