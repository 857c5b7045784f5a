#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float4 x = f[0];
  float4 y = f[1];
  f[2] = (pow(x, y) + exp(x) + atan2(y, x) + fma(x, y, x) + clamp(x, 0.0f, 1.0f) +
          clamp(x, float4(0), float4(1)) + mix(x, y, 0.5f) + mix(x, y, y) + max(x, 0.0f) +
          min(x, y) + smoothstep(0.0f, 1.0f, x) + step(0.5f, x) + fmod(x, y) + ldexp(x, int4(2)) +
          fract(x) + select(x, y, x < y))
             .x;
  int4 e;
  f[3] = frexp(x, e).x;
  half4 hh = half4(x);
  hh = exp(hh) + rsqrt(hh) + max(hh, 0.0h) + tanh(hh);
  f[4] = hh.x;
  float4 w;
  f[5] = modf(x, w).y;
}
