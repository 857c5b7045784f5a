// Powers. The logarithm is taken in double: its error is multiplied by the exponent.
#pragma once
#include "math_exp.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
// log2 of a positive finite number, error below 2^-42.
__ASSAY_FN constexpr double log2_double(float x) {
  decomposed d = decompose(x);
  double m = d.mantissa, s = (m - 1.0) / (m + 1.0);
  // Literals are float here, but for those of long double.
  double p = horner(s * s, (double)0x1.71547652b825p+1L, (double)0x1.ec709dc53dc2bp-1L,
                    (double)0x1.2776c291ccb29p-1L, (double)0x1.a61a2fdcdd792p-2L,
                    (double)0x1.47952d23d2a28p-2L, (double)0x1.21b3090f1d172p-2L);
  return fused(s, p, (double)d.exponent);
}
// |x|^y without the special cases of x = 0, infinity and NaN.
__ASSAY_FN constexpr float pow_core(float x, float y) {
  double w = log2_double(x) * (double)y;
  w = w > 130.0 ? 130.0 : w < -151.0 ? -151.0 : w;
  nearest_integer n = nearest((float)w);
  return scale(exp2_core((float)(w - (double)n.value)), n.integer);
}
// For bases that are not negative; x^y of a zero or infinite x by the sign of y.
__ASSAY_FN constexpr float pow_positive(float x, float y) {
  float result = pow_core(x, y);
  result = x == 0.0f ? (y < 0.0f ? infinity() : 0.0f) : result;
  result = x == infinity() ? (y < 0.0f ? 0.0f : infinity()) : result;
  float grows = magnitude(x) > 1.0f ? y : -y;
  result = magnitude(y) == infinity() ? (x == 1.0f ? 1.0f : grows > 0.0f ? infinity() : 0.0f) : result;
  return result;
}
__ASSAY_FN constexpr float pow(float x, float y) {
  float result = pow_positive(magnitude(x), y);
  bool integer = __builtin_elementwise_trunc(y) == y;
  float halved = y * 0.5f;
  bool odd = integer & (__builtin_elementwise_trunc(halved) != halved);
  bool negative = to_bits(x) < 0;
  result = negative & odd ? -result : result;
  result = (x < 0.0f) & (x != -infinity()) & !integer ? not_a_number() : result;
  result = (x != x) | (y != y) ? not_a_number() : result;
  return (y == 0.0f) | (x == 1.0f) ? 1.0f : result;
}
__ASSAY_FN constexpr float powr(float x, float y) {
  float result = pow_positive(magnitude(x), y);
  result = y == 0.0f ? 1.0f : result;
  bool undefined = (x < 0.0f) | (x != x) | (y != y) | ((y == 0.0f) & ((x == 0.0f) | (x == infinity()))) |
                   ((x == 1.0f) & (magnitude(y) == infinity()));
  return undefined ? not_a_number() : result;
}
}  // namespace __scalar

__ASSAY_FLOAT2(pow)
__ASSAY_FLOAT2(powr)
}  // namespace metal
