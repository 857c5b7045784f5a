// Variables that are set on every path that uses them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.switch_with_default]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "int32", shape = [32], fill = "uninitialised" }
kernel void switch_with_default(device const int* x, device int* y,
                                uint i [[thread_position_in_grid]]) {
  int value;
  switch (x[i] & 3) {
    case 0: value = 10; break;
    case 1: value = 20; break;
    default: value = 30; break;
  }
  y[i] = value;
}

//! [kernel.result_used_if_found]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
static bool find(device const float* x, uint start, thread uint& place) {
  for (uint k = start; k < 32; ++k) {
    if (x[k] > 20.0f) {
      place = k;
      return true;
    }
  }
  return false;
}
kernel void result_used_if_found(device const float* x, device float* y,
                                 uint i [[thread_position_in_grid]]) {
  uint place;
  if (find(x, i + 25, place)) {
    y[i] = float(place);
  } else {
    y[i] = -1.0f;
  }
}

//! [kernel.set_in_the_first_iteration]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 4
kernel void set_in_the_first_iteration(device const float* x, device float* y, constant uint& n,
                                       uint i [[thread_position_in_grid]]) {
  float most;
  for (uint k = 0; k < n; ++k) {
    float value = x[(i + k) & 31];
    most = k == 0 ? value : max(most, value);
  }
  y[i] = most;
}

//! [kernel.set_before_break]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void set_before_break(device const float* x, device float* y,
                             uint i [[thread_position_in_grid]]) {
  float value;
  uint k = i;
  while (true) {
    if (x[k & 31] >= 4.0f) {
      value = x[k & 31];
      break;
    }
    ++k;
  }
  y[i] = value;
}

//! [kernel.components_set_one_by_one]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void components_set_one_by_one(device const float* x, device float* y,
                                      uint i [[thread_position_in_grid]]) {
  float4 value;
  value.x = x[i];
  value.y = 1.0f;
  value.zw = float2(2.0f, 3.0f);
  y[i] = dot(value, value);
}

//! [kernel.member_not_set_and_not_used]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void member_not_set_and_not_used(device const float* x, device float* y,
                                        uint i [[thread_position_in_grid]]) {
  struct Pair {
    float sum;
    float count;
  };
  Pair pair;
  pair.sum = x[i];
  Pair copy = pair;
  y[i] = copy.sum;
}

struct Pair {
  uint index;
  short value;
  Pair(uint i, short v) : index(i), value(v) {}
};

static Pair greater(Pair a, Pair b) { return a.value < b.value ? b : a; }

//! [kernel.padding_goes_along]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "int16", shape = [96], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void padding_goes_along(device const short* x, device float* y,
                               uint i [[thread_position_in_threadgroup]]) {
  threadgroup short values[32];
  Pair best{0, short(-1)};
  for (uint k = i; k < 96; k += 32) {
    best = greater(best, Pair(k, x[k]));
  }
  for (ushort step = 16; step > 0; step /= 2) {
    best = greater(best, Pair(simd_shuffle_xor(best.index, step), simd_shuffle_xor(best.value, step)));
  }
  values[i] = best.value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = values[31 - i];
}

//! [kernel.zeroed_at_once]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 4
kernel void zeroed_at_once(device const float* x, device float* y, constant uint& n,
                           uint i [[thread_position_in_grid]]) {
  float sums[16] = {0};
  for (uint k = 0; k < n; ++k) {
    sums[(i + k) & 15] += x[(i + k) & 31];
  }
  y[i] = sums[(i + n) & 15];
}
