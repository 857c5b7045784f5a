// Hyperbolic functions and their inverses.
#pragma once
#include "math_exp.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
// e^x / 2 for 0 <= x, which is finite wherever sinh and cosh are.
__ASSAY_FN constexpr float half_exp(float x) {
  exp_reduced e = reduce_exp(x > 91.0f ? 91.0f : x);
  return scale(exp_core(e.rest), e.exponent - 1);
}
__ASSAY_FN constexpr float sinh(float x) {
  float a = magnitude(x), square = x * x;
  float p = horner(square, 0x1.555556p-3f, 0x1.111136p-7f, 0x1.9ffe1ep-13f, 0x1.7a252p-19f);
  float small = fused(x * square, p, x);
  float half = half_exp(a);
  return a < 1.0f ? small : with_sign(half - 0.25f / half, x);
}
__ASSAY_FN constexpr float cosh(float x) {
  float half = half_exp(magnitude(x));
  return half + 0.25f / half;
}
__ASSAY_FN constexpr float tanh(float x) {
  float a = magnitude(x), square = x * x;
  float p = horner(square, -0x1.555534p-2f, 0x1.110788p-3f, -0x1.b847bcp-5f, 0x1.526a44p-6f,
                   -0x1.76f906p-8f);
  float small = fused(a * square, p, a);
  float large = 1.0f - 2.0f / (exp(a * 2.0f) + 1.0f);
  return with_sign(a < 0.625f ? small : large, x);
}
// log(2 x) for large x.
__ASSAY_FN constexpr float log_doubled(float x) { return log(x) + 0x1.62e43p-1f; }
__ASSAY_FN constexpr float asinh(float x) {
  float a = magnitude(x), bounded = a > 1e9f ? 1e9f : a;
  float root = __builtin_elementwise_sqrt(fused(bounded, bounded, 1.0f));
  float near = log1p(bounded + bounded * bounded / (1.0f + root));
  float far = log_doubled(a);
  float result = a > 1e9f ? far : near;
  return x != x ? x : with_sign(result, x);
}
__ASSAY_FN constexpr float acosh(float x) {
  float above = (x > 1e9f ? 1e9f : x) - 1.0f;
  float near = log1p(above + __builtin_elementwise_sqrt(fused(above, above, 2.0f * above)));
  float far = log_doubled(x);
  return x > 1e9f ? far : x < 1.0f ? not_a_number() : near;
}
__ASSAY_FN constexpr float atanh(float x) {
  float a = magnitude(x);
  return with_sign(0.5f * log1p(2.0f * a / (1.0f - a)), x);
}
}  // namespace __scalar

__ASSAY_FLOAT1(sinh)
__ASSAY_FLOAT1(cosh)
__ASSAY_FLOAT1(tanh)
__ASSAY_FLOAT1(asinh)
__ASSAY_FLOAT1(acosh)
__ASSAY_FLOAT1(atanh)
}  // namespace metal
