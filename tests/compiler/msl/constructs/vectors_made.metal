#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float4 a = {1, 2, 3, 4};
  float4 b = {1};
  float2 c = 3;
  int3 d = int3(1.5f);
  uint4 e(int4(1));
  float4 g = float4(float2(1), float2(2));
  float4 q(1, float2(2), 3);
  float4 r(float3(1), 2);
  bool4 s = a > b;
  f[0] = any(s) + all(s) + select(a, b, s).x + a[i % 4] + c.x + d.y + e.z + g.w + q.x + r.y;
  char4 ch = char4(a);
  uchar4 uc(255);
  f[1] = ch.x + uc.y;
  float4 ar[2] = {float4(1), {1, 2, 3, 4}};
  f[2] = ar[1].z;
}
