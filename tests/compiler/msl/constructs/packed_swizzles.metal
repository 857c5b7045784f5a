#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  device packed_float4* p = (device packed_float4*)f;
  f[0] = p[0].xyz.x + p[0].wzyx.y;
  p[1].yz = float2(1, 2);
}
