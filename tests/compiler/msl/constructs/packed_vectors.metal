#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  device packed_float3* p = (device packed_float3*)f;
  float3 v = p[i];
  p[i] = v * 2.0f;
  p[i].x = 3;
  packed_float3 q(1, 2, 3);
  q += v;
  f[0] = q[1] + dot(float3(q), v) + length(q);
  packed_half4 hh = packed_half4(half4(1));
  packed_int2 ii(1, 2);
  packed_uchar4 c(1, 2, 3, 4);
  packed_short3 s;
  s = short3(1);
  f[1] = hh.x + ii.x + c.w + s.z;
}
