#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f, uint i [[thread_position_in_grid]]) {
  if (i > 4) return;
  for (uint j = 0;; ++j) {
    if (j > 3) break;
    if (j == 1) continue;
    f[j] = j;
  }
}
