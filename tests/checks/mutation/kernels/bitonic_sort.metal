// Sorts 128 keys by 64 threads.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bitonic_sort]
//! threads = [64]
//! threadgroup = [64]
//! arguments.x = { dtype = "int32", shape = [128], fill = "random" }
//! arguments.y = { dtype = "int32", shape = [128], fill = "uninitialised" }
kernel void bitonic_sort(device const int* x, device int* y,
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup int keys[128];
  keys[t] = x[t];
  keys[t + 64] = x[t + 64];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint size = 2; size <= 128; size *= 2) {
    for (uint step = size / 2; step > 0; step /= 2) {
      uint low = 2 * t - (t & (step - 1));
      uint high = low + step;
      int first = keys[low];
      int second = keys[high];
      if ((first > second) == ((low & size) == 0)) {
        keys[low] = second;
        keys[high] = first;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  y[t] = keys[t];
  y[t + 64] = keys[t + 64];
}
