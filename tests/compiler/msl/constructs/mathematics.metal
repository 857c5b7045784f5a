#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float x = f[0];
  float y = f[1];
  f[2] = acos(x) + acosh(x) + asin(x) + asinh(x) + atan(x) + atan2(y, x) + atanh(x) + ceil(x) +
         copysign(x, y) + cos(x) + cosh(x) + cospi(x) + divide(x, y) + exp(x) + exp2(x) + exp10(x) +
         fabs(x) + abs(x) + fdim(x, y) + floor(x) + fma(x, y, x) + fmax(x, y) + max(x, y) +
         fmax3(x, y, x) + max3(x, y, x) + fmedian3(x, y, x) + median3(x, y, x) + fmin(x, y) +
         fmin3(x, y, x) + fmod(x, y) + fract(x) + ldexp(x, 2) + log(x) + log2(x) + log10(x) +
         pow(x, y) + powr(x, y) + rint(x) + round(x) + rsqrt(x) + sin(x) + sinh(x) + sinpi(x) +
         sqrt(x) + tan(x) + tanh(x) + tanpi(x) + trunc(x) + nextafter(x, y) + clamp(x, 0.0f, 1.0f) +
         mix(x, y, 0.5f) + saturate(x) + sign(x) + smoothstep(0.0f, 1.0f, x) + step(x, y);
  int e;
  f[3] = frexp(x, e) + e + ilogb(x);
  float w;
  f[4] = modf(x, w) + w;
  float c;
  f[5] = sincos(x, c) + c;
}
