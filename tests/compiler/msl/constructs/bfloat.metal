#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  bfloat b = bfloat(f[0]);
  bfloat4 v(b);
  v = v * b + bfloat4(1.0bf);
  f[0] = float(v.x) + (float)b;
  bfloat c = b * 2.0bf;
  bfloat d = static_cast<bfloat>(h[0]);
  half e = half(d);
  f[1] = max(c, d);
  f[2] = e + float(exp(b));
  ushort us = as_type<ushort>(b);
  u[0] = us;
  b = -b;
  if (b < c) f[3] = fma(b, c, d);
}
