// Sine, cosine, tangent and their inverses.
#pragma once
#include "math_scalar.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
// An angle as quadrant * pi/2 + rest, |rest| <= pi/4.
struct angle { float rest; int quadrant; };
__ASSAY_FN constexpr uint two_over_pi(int word) {
  return word == 1   ? 0x28be60dbu
         : word == 2 ? 0x9391054au
         : word == 3 ? 0x7f09d5f4u
         : word == 4 ? 0x7d4d3770u
         : word == 5 ? 0x36d8a566u
         : word == 6 ? 0x4f10e410u
         : word == 7 ? 0x7f9458eau
                     : 0u;
}
// Payne and Hanek: the product of the mantissa with the 96 bits of 2/pi that matter.
__ASSAY_FN constexpr angle reduce_large(float x) {
  uint bits = __builtin_bit_cast(uint, x);
  int exponent = int((bits >> 23) & 0xffu) - 126;
  uint mantissa = (bits << 8) | 0x80000000u;
  int word = exponent >> 5;
  uint shift = uint(exponent) & 31u;
  ulong high = (ulong(two_over_pi(word)) << 32) | two_over_pi(word + 1);
  ulong middle = (ulong(two_over_pi(word + 1)) << 32) | two_over_pi(word + 2);
  ulong low = (ulong(two_over_pi(word + 2)) << 32) | two_over_pi(word + 3);
  uint h = uint((high << shift) >> 32), m = uint((middle << shift) >> 32), l = uint((low << shift) >> 32);
  ulong product = (ulong(mantissa) * l) >> 32;
  product += ulong(mantissa) * m;
  product += ulong(mantissa * h) << 32;
  int quadrant = int(product >> 62);
  long fraction = long(product << 2) >> 2;  // two's complement: in [-1/2, 1/2) of a quadrant
  quadrant += fraction < 0 ? 1 : 0;
  float rest = (float)((double)fraction * (double)0x1.921fb54442d18p-62L);
  return to_bits(x) < 0 ? angle{-rest, -quadrant} : angle{rest, quadrant};
}
__ASSAY_FN constexpr angle reduce_angle(float x) {
  if (magnitude(x) < 0x1p+20f) {
    // pi/2 in three parts; the first two steps are exact but for a final rounding.
    nearest_integer n = nearest(x * 0x1.45f306p-1f);
    float r = fused(n.value, -0x1.921fb6p+0f, x);
    r = fused(n.value, 0x1.777a5cp-25f, r);
    r = fused(n.value, 0x1.ee59dap-50f, r);
    return {r, n.integer};
  }
  if (magnitude(x) < infinity()) return reduce_large(x);
  return {not_a_number(), 0};
}
__ASSAY_FN constexpr float sin_core(float r) {
  float square = r * r;
  float p = horner(square, -0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00fa4p-13f, 0x1.6cd9cep-19f);
  return fused(r * square, p, r);
}
__ASSAY_FN constexpr float cos_core(float r) {
  float square = r * r;
  float p = horner(square, 0x1.555556p-5f, -0x1.6c16b8p-10f, 0x1.a0113ap-16f, -0x1.242f5p-22f);
  return fused(square * square, p, fused(-0.5f, square, 1.0f));
}
__ASSAY_FN constexpr float sin_of(angle a) {
  float s = sin_core(a.rest), c = cos_core(a.rest);
  float value = a.quadrant & 1 ? c : s;
  return a.quadrant & 2 ? -value : value;
}
__ASSAY_FN constexpr float cos_of(angle a) {
  float s = sin_core(a.rest), c = cos_core(a.rest);
  float value = a.quadrant & 1 ? s : c;
  return (a.quadrant + 1) & 2 ? -value : value;
}
__ASSAY_FN constexpr float tan_of(angle a) {
  float s = sin_core(a.rest), c = cos_core(a.rest);
  bool odd = a.quadrant & 1;
  return (odd ? -c : s) / (odd ? s : c);
}
__ASSAY_FN constexpr float sin(float x) { return x == 0.0f ? x : sin_of(reduce_angle(x)); }
__ASSAY_FN constexpr float cos(float x) { return cos_of(reduce_angle(x)); }
__ASSAY_FN constexpr float tan(float x) { return x == 0.0f ? x : tan_of(reduce_angle(x)); }

// The angle pi * x.
__ASSAY_FN constexpr angle reduce_half_turns(float x) {
  float y = fused(-2.0f, __builtin_elementwise_roundeven(x * 0.5f), x);
  y = magnitude(x) == infinity() ? not_a_number() : y;
  nearest_integer n = nearest(y * 2.0f);
  float r = fused(n.value, -0.5f, y);
  return {fused(r, 0x1.921fb6p+1f, r * -0x1.777a5cp-24f), n.integer};
}
__ASSAY_FN constexpr float sinpi(float x) {
  float value = sin_of(reduce_half_turns(x));
  return __builtin_elementwise_trunc(x) == x ? with_sign(0.0f, x) : value;
}
__ASSAY_FN constexpr float cospi(float x) {
  float value = cos_of(reduce_half_turns(x));
  return value == 0.0f ? 0.0f : value;
}
__ASSAY_FN constexpr float tanpi(float x) { return x == 0.0f ? x : tan_of(reduce_half_turns(x)); }

// (asin(r) - r) / r^3 in r^2 <= 1/4.
__ASSAY_FN constexpr float asin_core(float r, float square) {
  float p = horner(square, 0x1.55554cp-3f, 0x1.333862p-4f, 0x1.6cb1c8p-5f, 0x1.047e16p-5f,
                   0x1.da1242p-7f, 0x1.330e04p-5f);
  return fused(r * square, p, r);
}
constexpr float __half_pi = 0x1.921fb6p+0f, __half_pi_low = -0x1.777a5cp-25f;
__ASSAY_FN constexpr float asin(float x) {
  float a = magnitude(x);
  bool outer = a > 0.5f;
  float square = outer ? fused(a, -0.5f, 0.5f) : a * a;
  float r = outer ? __builtin_elementwise_sqrt(square) : a;
  float core = asin_core(r, square);
  return with_sign(outer ? __half_pi - fused(2.0f, core, -__half_pi_low) : core, x);
}
__ASSAY_FN constexpr float acos(float x) {
  float a = magnitude(x);
  bool outer = a > 0.5f;
  float square = outer ? fused(a, -0.5f, 0.5f) : a * a;
  float r = outer ? __builtin_elementwise_sqrt(square) : a;
  float core = asin_core(r, square);
  float inner = __half_pi - (with_sign(core, x) - __half_pi_low);
  float folded = x < 0.0f ? 2.0f * __half_pi - (2.0f * core - 2.0f * __half_pi_low) : 2.0f * core;
  return outer ? folded : inner;
}
// atan of a number in [0, 1].
__ASSAY_FN constexpr float atan_core(float t) {
  float square = t * t;
  float p = horner(square, -0x1.555552p-2f, 0x1.999806p-3f, -0x1.247574p-3f, 0x1.c50c72p-4f,
                   -0x1.694b4p-4f, 0x1.150836p-4f, -0x1.70a224p-5f, 0x1.759d64p-6f,
                   -0x1.e7bef6p-8f, 0x1.2a8304p-10f);
  return fused(t * square, p, t);
}
__ASSAY_FN constexpr float atan(float x) {
  float a = magnitude(x);
  bool outer = a > 1.0f;
  float core = atan_core(outer ? 1.0f / a : a);
  return with_sign(outer ? __half_pi - (core - __half_pi_low) : core, x);
}
__ASSAY_FN constexpr float atan2(float y, float x) {
  float ay = magnitude(y), ax = magnitude(x);
  float larger = ay > ax ? ay : ax, smaller = ay > ax ? ax : ay;
  float t = smaller == larger ? 1.0f : smaller / larger;
  t = larger == 0.0f ? 0.0f : t;
  float core = atan_core(t);
  core = ay > ax ? __half_pi - (core - __half_pi_low) : core;
  core = to_bits(x) < 0 ? 2.0f * __half_pi - (core - 2.0f * __half_pi_low) : core;
  return (x != x) | (y != y) ? not_a_number() : with_sign(core, y);
}
}  // namespace __scalar

__ASSAY_FLOAT1(sin)
__ASSAY_FLOAT1(cos)
__ASSAY_FLOAT1(tan)
__ASSAY_FLOAT1(sinpi)
__ASSAY_FLOAT1(cospi)
__ASSAY_FLOAT1(tanpi)
__ASSAY_FLOAT1(asin)
__ASSAY_FLOAT1(acos)
__ASSAY_FLOAT1(atan)
__ASSAY_FLOAT2(atan2)

template <class T>
__ASSAY_FN T sincos(T x, T& cosine) {
  cosine = cos(x);
  return sin(x);
}
}  // namespace metal
