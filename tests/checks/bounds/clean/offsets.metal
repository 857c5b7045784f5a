// Pointers and indices that leave the buffer and come back before they are used.
#include <metal_stdlib>
using namespace metal;

//! [kernel.negative_offsets]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [66], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void negative_offsets(device const float* x, device float* y,
                             uint i [[thread_position_in_grid]]) {
  device const float* centre = x + 1 + i;
  y[i] = centre[-1] + centre[0] + centre[1];
}

//! [kernel.pointer_before_the_start]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void pointer_before_the_start(device const float* x, device float* y,
                                     uint i [[thread_position_in_grid]]) {
  device const float* from_one = x - 1;
  y[i] = from_one[i + 1];
}

//! [kernel.pointer_to_the_end]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
kernel void pointer_to_the_end(device const float* x, device float* y,
                               uint i [[thread_position_in_grid]]) {
  device const float* end = x + 32;
  float sum = 0;
  for (device const float* at = x; at != end; ++at) {
    sum += *at;
  }
  y[i] = sum;
}

//! [kernel.unsigned_wrap_and_back]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void unsigned_wrap_and_back(device const float* x, device float* y,
                                   uint i [[thread_position_in_grid]]) {
  uint before = i - 1;
  y[i] = x[before + 1];
}

//! [kernel.backwards]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void backwards(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  device const float* last = x + 63;
  y[i] = last[-int(i)];
}

//! [kernel.loop_that_does_not_run]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [32], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [32], fill = "uninitialised" }
//! arguments.n = 0
kernel void loop_that_does_not_run(device const float* x, device float* y, constant uint& n,
                                   uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += x[1000 + k];
  }
  y[i] = sum;
}

//! [kernel.mirrored_border]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void mirrored_border(device const float* x, device float* y,
                            uint i [[thread_position_in_grid]]) {
  int left = int(i) - 3;
  left = left < 0 ? -left : left;
  y[i] = x[left];
}
