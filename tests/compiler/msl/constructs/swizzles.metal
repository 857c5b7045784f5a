#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float4 a(1, 2, 3, 4);
  a.xz = a.yw;
  a.rgb = float3(1);
  f[i] = a.wzyx.x + a.bgra.y + float2(1, 2).xxxx.w;
  half3 q = half3(a.xyz);
  f[1] = q.zyx.x;
}
