#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  half a = h[0];
  half b = a * 2.0h + 1.0h;
  b = exp(a) + sqrt(a) + max(a, b) + fma(a, a, b) + pow(a, b) + abs(a) + clamp(a, 0.0h, 1.0h) +
      select(a, b, true) + min(a, (half)1) + rsqrt(a) + tanh(a) + floor(a) + half(1);
  h[1] = b;
  h[2] = a > b ? a : b;
  h[3] = as_type<half>(ushort(3));
  f[0] = a * 1.5f;
  h[4] = a + 1;
  h[5] += a;
  h[6] = -a;
  h[7] = metal::max(a, half(2));
  half2 q = {a, b};
  h[8] = dot(q, q) + length(q);
}
