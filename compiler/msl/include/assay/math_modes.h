// fast:: and precise:: name the same functions as metal::, which keep the bounds of precise math.
#pragma once
#include "common.h"
#include "integer.h"
#include "math_exp.h"
#include "math_hyperbolic.h"
#include "math_parts.h"
#include "math_pow.h"
#include "math_trig.h"
#include "geometric.h"

#define __ASSAY_MODE                                                                              \
  using metal::fabs; using metal::floor; using metal::ceil; using metal::trunc; using metal::rint; \
  using metal::round; using metal::sqrt; using metal::rsqrt; using metal::copysign;               \
  using metal::fmin; using metal::fmax; using metal::fma; using metal::min; using metal::max;     \
  using metal::min3; using metal::max3; using metal::median3; using metal::fmin3;                 \
  using metal::fmax3; using metal::fmedian3; using metal::clamp; using metal::saturate;           \
  using metal::mix; using metal::step; using metal::smoothstep; using metal::sign;                \
  using metal::abs; using metal::dot; using metal::length; using metal::length_squared;           \
  using metal::distance; using metal::distance_squared; using metal::normalize;                   \
  using metal::exp; using metal::exp2; using metal::exp10; using metal::log; using metal::log2;   \
  using metal::log10; using metal::pow; using metal::powr; using metal::sin; using metal::cos;    \
  using metal::tan; using metal::sincos; using metal::sinpi; using metal::cospi;                  \
  using metal::tanpi; using metal::asin; using metal::acos; using metal::atan;                    \
  using metal::atan2; using metal::sinh; using metal::cosh; using metal::tanh;                    \
  using metal::asinh; using metal::acosh; using metal::atanh; using metal::fmod;                  \
  using metal::fdim; using metal::divide; using metal::nextafter; using metal::fract;             \
  using metal::ilogb; using metal::ldexp; using metal::frexp; using metal::modf;                  \
  using metal::isnan; using metal::isinf; using metal::isfinite;

namespace metal {
namespace fast { __ASSAY_MODE }
namespace precise { __ASSAY_MODE }
}  // namespace metal
#undef __ASSAY_MODE
