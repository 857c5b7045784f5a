// fast:: and precise:: name the same functions as metal::, which keep the bounds of precise math.
#pragma once
#include "common.h"
#include "integer.h"
#include "geometric.h"

#define __ASSAY_MODE                                                                              \
  using metal::fabs; using metal::floor; using metal::ceil; using metal::trunc; using metal::rint; \
  using metal::round; using metal::sqrt; using metal::rsqrt; using metal::copysign;               \
  using metal::fmin; using metal::fmax; using metal::fma; using metal::min; using metal::max;     \
  using metal::min3; using metal::max3; using metal::median3; using metal::fmin3;                 \
  using metal::fmax3; using metal::fmedian3; using metal::clamp; using metal::saturate;           \
  using metal::mix; using metal::step; using metal::smoothstep; using metal::sign;                \
  using metal::abs; using metal::dot; using metal::length; using metal::length_squared;           \
  using metal::distance; using metal::distance_squared; using metal::normalize;

namespace metal {
namespace fast { __ASSAY_MODE }
namespace precise { __ASSAY_MODE }
}  // namespace metal
#undef __ASSAY_MODE
