// One pass of a radix sort: keys go to places counted by prefix sums.
#include <metal_stdlib>
using namespace metal;

//! [kernel.radix_pass]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "uint32", shape = [64], fill = "random" }
//! arguments.y = { dtype = "uint32", shape = [64], fill = "uninitialised" }
//! arguments.shift = 2
kernel void radix_pass(device const uint* x, device uint* y, constant uint& shift,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint flags[64];
  threadgroup uint places[64];
  uint key = x[t];
  uint bit = (key >> shift) & 1;
  flags[t] = 1 - bit;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint before = 0;
  uint zeros = 0;
  for (uint k = 0; k < 64; ++k) {
    zeros += flags[k];
    if (k < t) {
      before += flags[k];
    }
  }
  uint place = before;
  if (bit == 1) {
    place = zeros + t - before;
  }
  places[place] = key;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = places[t];
}
