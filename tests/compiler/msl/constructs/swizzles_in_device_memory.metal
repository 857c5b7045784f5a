#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  device float4* p = (device float4*)f;
  p[0].xy = float2(1, 2);
  p[1].zw += p[0].xy;
  f[9] = p[0].wz.x;
}
