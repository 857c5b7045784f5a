// fast:: and precise:: compute the same as metal::, which keeps the bounds of precise math. Where
// hardware takes longer to be precise, precise:: has functions of its own, so that they can be told.
#pragma once
#include "common.h"
#include "integer.h"
#include "math_exp.h"
#include "math_hyperbolic.h"
#include "math_parts.h"
#include "math_pow.h"
#include "math_trig.h"
#include "geometric.h"

#define __ASSAY_COMMON                                                                            \
  using metal::fabs; using metal::floor; using metal::ceil; using metal::trunc; using metal::rint; \
  using metal::round; using metal::copysign;                                                      \
  using metal::fmin; using metal::fmax; using metal::fma; using metal::min; using metal::max;     \
  using metal::min3; using metal::max3; using metal::median3; using metal::fmin3;                 \
  using metal::fmax3; using metal::fmedian3; using metal::clamp; using metal::saturate;           \
  using metal::mix; using metal::step; using metal::smoothstep; using metal::sign;                \
  using metal::abs; using metal::dot; using metal::length; using metal::length_squared;           \
  using metal::distance; using metal::distance_squared; using metal::normalize;                   \
  using metal::fmod; using metal::fdim; using metal::nextafter; using metal::fract;               \
  using metal::ilogb; using metal::ldexp; using metal::frexp; using metal::modf;                  \
  using metal::isnan; using metal::isinf; using metal::isfinite;
#define __ASSAY_OWN1(X)                                                                           \
  X(sqrt) X(rsqrt) X(exp) X(exp2) X(exp10) X(log) X(log2) X(log10) X(sin) X(cos) X(tan) X(sinpi)  \
  X(cospi) X(tanpi) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)
#define __ASSAY_OWN2(X) X(pow) X(powr) X(atan2) X(divide)
#define __ASSAY_USING(name) using metal::name;
#define __ASSAY_PRECISE1(name) \
  __ASSAY_MAP1(__real_t, name, return metal::__op_##name::template call<T>(x);)
#define __ASSAY_PRECISE2(name) \
  __ASSAY_MAP2(__real_t, name, return metal::__op_##name::template call<T>(x, y);)

namespace metal {
namespace fast {
__ASSAY_COMMON
__ASSAY_OWN1(__ASSAY_USING)
__ASSAY_OWN2(__ASSAY_USING)
using metal::sincos;
}  // namespace fast
namespace precise {
__ASSAY_COMMON
__ASSAY_OWN1(__ASSAY_PRECISE1)
__ASSAY_OWN2(__ASSAY_PRECISE2)
template <class T> __ASSAY_FN T sincos(T x, T& cosine) { cosine = cos(x); return sin(x); }
}  // namespace precise
}  // namespace metal
#undef __ASSAY_COMMON
#undef __ASSAY_OWN1
#undef __ASSAY_OWN2
#undef __ASSAY_USING
#undef __ASSAY_PRECISE1
#undef __ASSAY_PRECISE2
