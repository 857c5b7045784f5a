// Exponentials and logarithms. Polynomials are minimax fits over the reduced range.
#pragma once
#include "math_scalar.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
__ASSAY_FN constexpr float exp2_core(float r) {  // |r| <= 1/2
  return horner(r, 1.0f, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6b08ep-5f, 0x1.3b29f2p-7f,
                0x1.5d8724p-10f, 0x1.445e52p-13f, 0x1.00f11ap-16f);
}
__ASSAY_FN constexpr float exp2(float x) {
  float bounded = x > 130.0f ? 130.0f : x < -151.0f ? -151.0f : x;
  nearest_integer n = nearest(bounded);
  return scale(exp2_core(bounded - n.value), n.integer);
}
// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2.
__ASSAY_FN constexpr float exp_tail(float r) {
  return horner(r, 0x1p-1f, 0x1.555556p-3f, 0x1.555482p-5f, 0x1.11108p-7f, 0x1.6d94c2p-10f,
                0x1.a1b3e2p-13f);
}
__ASSAY_FN constexpr float exp_core(float r) { return 1.0f + fused(r * r, exp_tail(r), r); }
struct exp_reduced { float rest; int exponent; };
// x = exponent * ln(2) + rest; ln(2) in two parts, the first short enough for an exact product.
__ASSAY_FN constexpr exp_reduced reduce_exp(float x) {
  nearest_integer n = nearest(x * 0x1.715476p+0f);
  float r = fused(n.value, -0x1.62e4p-1f, x);
  return {fused(n.value, -0x1.7f7d1cp-20f, r), n.integer};
}
__ASSAY_FN constexpr float exp(float x) {
  exp_reduced e = reduce_exp(x > 89.0f ? 89.0f : x < -104.5f ? -104.5f : x);
  return scale(exp_core(e.rest), e.exponent);
}
__ASSAY_FN constexpr float exp10(float x) {
  float bounded = x > 39.0f ? 39.0f : x < -46.0f ? -46.0f : x;
  nearest_integer n = nearest(bounded * 0x1.a934fp+1f);
  float r = fused(n.value, -0x1.344p-2f, bounded);  // log10(2) in two parts
  r = fused(n.value, -0x1.3509f8p-18f, r);
  // 10^r = e^(r ln 10), ln(10) in two parts as well.
  float high = r * 0x1.26bb1cp+1f;
  float low = fused(r, -0x1.12aabap-25f, fused(r, 0x1.26bb1cp+1f, -high));
  float core = exp_core(high);
  return scale(fused(core, low, core), n.integer);
}

// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for positive finite x.
struct decomposed { float mantissa; float exponent; };
__ASSAY_FN constexpr decomposed decompose(float x) {
  bool tiny = x < 0x1p-126f;
  int bits = to_bits(tiny ? x * 0x1p+24f : x) - 0x3f3504f3;
  int exponent = bits >> 23;
  float mantissa = to_float((bits & 0x007fffff) + 0x3f3504f3);
  return {mantissa, (float)(tiny ? exponent - 24 : exponent)};
}
// The results outside the positive finite numbers.
__ASSAY_FN constexpr float log_special(float x, float result) {
  result = x == infinity() ? x : result;
  result = x == 0.0f ? -infinity() : result;
  return x >= 0.0f ? result : not_a_number();
}
// log(1 + f) - f, for 1 + f in [sqrt(1/2), sqrt(2)].
__ASSAY_FN constexpr float log_rest(float f) {
  float cubic = horner(f, 0x1.555546p-2f, -0x1.ffffeep-3f, 0x1.99a4e2p-3f, -0x1.55629ap-3f,
                       0x1.233954p-3f, -0x1.fb5282p-4f, 0x1.e60866p-4f, -0x1.e27ec2p-4f,
                       0x1.1b5c52p-4f);
  float square = f * f;
  return fused(cubic * f, square, -0.5f * square);
}
__ASSAY_FN constexpr float log(float x) {
  decomposed d = decompose(x);
  float f = d.mantissa - 1.0f;
  // ln(2) = 0x1.62ep-1 + 0x1.0bfbe8p-15; the first product is exact.
  float low = fused(d.exponent, 0x1.0bfbe8p-15f, log_rest(f));
  float high = d.exponent * 0x1.62ep-1f, sum = high + f;
  float lost = magnitude(high) > magnitude(f) ? f - (sum - high) : high - (sum - f);
  return log_special(x, sum + (low + lost));
}
// log(1 + x) without loss for small x.
__ASSAY_FN constexpr float log1p(float x) {
  float u = 1.0f + x;
  float lost = u > 2.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  decomposed d = decompose(u);
  float f = d.mantissa - 1.0f;
  float low = fused(d.exponent, 0x1.0bfbe8p-15f, log_rest(f) + lost / u);
  float result = fused(d.exponent, 0x1.62ep-1f, f + low);
  result = magnitude(x) < 0x1p-24f ? x : result;
  result = x == infinity() ? x : result;
  result = x == -1.0f ? -infinity() : result;
  return x >= -1.0f ? result : not_a_number();
}
// log_b(x) from the logarithm's parts: `scale_high + scale_low` is 1 / ln(b), `step` is log_b(2) in
// two parts of which the first has an exact product with an exponent.
__ASSAY_FN constexpr float log_in_base(float x, float scale_high, float scale_low, float step_high,
                                       float step_low) {
  decomposed d = decompose(x);
  float f = d.mantissa - 1.0f, rest = log_rest(f);
  float product = f * scale_high;
  float low = fused(f, scale_high, -product);
  low = fused(rest, scale_high, fused(f, scale_low, low));
  low = fused(d.exponent, step_low, low);
  float high = d.exponent * step_high, sum = high + product;
  float lost = magnitude(high) > magnitude(product) ? product - (sum - high) : high - (sum - product);
  return log_special(x, sum + (low + lost));
}
__ASSAY_FN constexpr float log2(float x) {
  return log_in_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f);
}
__ASSAY_FN constexpr float log10(float x) {
  return log_in_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f);
}
}  // namespace __scalar

__ASSAY_FLOAT1(exp)
__ASSAY_FLOAT1(exp2)
__ASSAY_FLOAT1(exp10)
__ASSAY_FLOAT1(log)
__ASSAY_FLOAT1(log2)
__ASSAY_FLOAT1(log10)
}  // namespace metal
