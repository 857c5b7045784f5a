#include <metal_stdlib>
using namespace metal;

kernel void k(array<device float*, 4> bufs [[buffer(0)]], device float* o [[buffer(4)]],
              uint i [[thread_position_in_grid]]) {
  o[i] = bufs[1][i] + bufs[2][i];
}
