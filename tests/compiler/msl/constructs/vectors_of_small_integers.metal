#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  uchar4 a = uchar4(1, 2, 3, 4);
  a += uchar4(1);
  a = a << 1;
  a = min(a, uchar4(3));
  char4 c = char4(a) - char4(1);
  u[0] = a.x + uint(c.y);
  bool2 b = bool2(true, false);
  b = !b;
  b = b && bool2(true);
  u[1] = b.x | b.y;
  ushort2 s = ushort2(a.xy);
  s ^= 3;
  s &= ushort2(1);
  u[2] = s.x;
  short4 q = short4(a) * short(2);
  int4 z = int4(q) >> 1;
  n[0] = z.w % 3;
  uint3 m = uint3(7) % 4u;
  u[3] = m.x;
  int3 neg = -int3(1);
  int3 inv = ~neg;
  n[1] = inv.x;
  z++;
  --z;
  n[2] = z.x;
  float4 eq = float4(a == a);
  f[0] = eq.x;
  a[1] = 3;
  a[i & 3] += 2;
  u[4] = a[1];
}
