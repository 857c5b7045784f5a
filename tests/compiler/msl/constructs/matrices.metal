#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float4x4 m(1.0f);
  float3x3 r(float3(1, 0, 0), float3(0, 1, 0), float3(0, 0, 1));
  float2x3 t(1, 2, 3, 4, 5, 6);
  m[0] = float4(2);
  m[1][2] = 3;
  float4 v = m * float4(1);
  v = v * m;
  m = m * m;
  m *= 2.0f;
  m = transpose(m);
  f[0] = determinant(m) + v.x + t[1].z + (r * float3(1)).x;
  half4x4 hm = half4x4(m);
  m = float4x4(hm);
  m += m;
  m = -m;
  m = m - m;
  float4x4 mm = {float4(1), float4(2), float4(3), float4(4)};
  f[1] = mm[1][1];
  float2x2 z = float2x2(1, 2, 3, 4);
  f[2] = z[0][1];
  float4x4 y = float4x4(float4x4(2.0));
  f[3] = y[0].x;
}
