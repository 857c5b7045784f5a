#include <metal_stdlib>
using namespace metal;

kernel void k(const array<const device float*, 3> bufs [[buffer(1)]], device float* o [[buffer(0)]],
              uint i [[thread_position_in_grid]]) {
  for (int j = 0; j < 3; j++) o[i] += bufs[j][i];
}
