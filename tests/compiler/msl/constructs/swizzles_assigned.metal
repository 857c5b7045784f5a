#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float4 a(1, 2, 3, 4);
  a.xy += float2(1);
  a.zw *= 2.0f;
  a.x++;
  f[i] = a.x;
}
