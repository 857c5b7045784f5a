// fast:: and precise:: compute the same as metal::, which keeps the bounds of precise math. Where
// hardware takes longer to be precise, precise:: has functions of its own, which differ by name.
// Apple has all of them for float alone: scalars of 16 bits convert, and float is what comes back.
#pragma once
#include "common.h"
#include "integer.h"
#include "math_exp.h"
#include "math_hyperbolic.h"
#include "math_parts.h"
#include "math_pow.h"
#include "math_root.h"
#include "math_trig.h"
#include "geometric.h"

namespace metal {
template <class T> constexpr bool __is_short_real = __is_same(T, half) || __is_same(T, bfloat);
template <class... A>
using __wide_real_t = conditional_t<__is_short_real<__real_t<A...>>, float, __real_t<A...>>;
template <class... A>
using __wide_joined_t = conditional_t<__is_short_real<__joined_t<A...>>, float, __joined_t<A...>>;
}  // namespace metal

#define __ASSAY_WIDE1(type_of, name)                                                              \
  template <class A> requires __numeric<A>                                                        \
  __ASSAY_FN constexpr auto name(const A& a) {                                                    \
    return __apply<type_of<A>>(metal::__op_##name{}, a);                                          \
  }
#define __ASSAY_WIDE2(type_of, name)                                                              \
  template <class A, class B> requires __numeric<A, B>                                            \
  __ASSAY_FN constexpr auto name(const A& a, const B& b) {                                        \
    return __apply<type_of<A, B>>(metal::__op_##name{}, a, b);                                    \
  }
#define __ASSAY_WIDE3(type_of, name)                                                              \
  template <class A, class B, class C> requires __numeric<A, B, C>                                \
  __ASSAY_FN constexpr auto name(const A& a, const B& b, const C& c) {                            \
    return __apply<type_of<A, B, C>>(metal::__op_##name{}, a, b, c);                              \
  }
#define __ASSAY_OWN1(X)                                                                           \
  X(sqrt) X(rsqrt) X(exp) X(exp2) X(exp10) X(log) X(log2) X(log10) X(sin) X(cos) X(tan) X(sinpi)  \
  X(cospi) X(tanpi) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)
#define __ASSAY_OWN2(X) X(pow) X(powr) X(atan2) X(divide)
#define __ASSAY_FAST1(name) __ASSAY_WIDE1(__wide_real_t, name)
#define __ASSAY_FAST2(name) __ASSAY_WIDE2(__wide_real_t, name)
#define __ASSAY_PRECISE1(name) \
  __ASSAY_MAP1(__wide_real_t, name, return metal::__op_##name::call(x);)
#define __ASSAY_PRECISE2(name) \
  __ASSAY_MAP2(__wide_real_t, name, return metal::__op_##name::call(x, y);)

namespace metal {
namespace __alike {
__ASSAY_WIDE1(__wide_real_t, fabs) __ASSAY_WIDE1(__wide_real_t, floor)
__ASSAY_WIDE1(__wide_real_t, ceil) __ASSAY_WIDE1(__wide_real_t, trunc)
__ASSAY_WIDE1(__wide_real_t, rint) __ASSAY_WIDE1(__wide_real_t, round)
__ASSAY_WIDE1(__wide_real_t, saturate) __ASSAY_WIDE1(__wide_real_t, fract)
__ASSAY_WIDE1(__wide_joined_t, abs)
template <class A> requires (__numeric<A> && __is_real<__element<__joined_t<A>>>)
__ASSAY_FN constexpr auto sign(const A& a) {
  return __apply<__wide_joined_t<A>>(metal::__op_sign{}, a);
}
__ASSAY_WIDE2(__wide_real_t, copysign) __ASSAY_WIDE2(__wide_real_t, fmin)
__ASSAY_WIDE2(__wide_real_t, fmax) __ASSAY_WIDE2(__wide_real_t, step)
__ASSAY_WIDE2(__wide_real_t, fmod) __ASSAY_WIDE2(__wide_real_t, fdim)
__ASSAY_WIDE2(__wide_real_t, nextafter)
__ASSAY_WIDE2(__wide_joined_t, min) __ASSAY_WIDE2(__wide_joined_t, max)
__ASSAY_WIDE3(__wide_real_t, fma) __ASSAY_WIDE3(__wide_real_t, mix)
__ASSAY_WIDE3(__wide_real_t, smoothstep) __ASSAY_WIDE3(__wide_real_t, fmin3)
__ASSAY_WIDE3(__wide_real_t, fmax3) __ASSAY_WIDE3(__wide_real_t, fmedian3)
__ASSAY_WIDE3(__wide_joined_t, min3) __ASSAY_WIDE3(__wide_joined_t, max3)
__ASSAY_WIDE3(__wide_joined_t, median3) __ASSAY_WIDE3(__wide_joined_t, clamp)
template <class A, class I> requires __numeric<A>
__ASSAY_FN constexpr auto ldexp(const A& a, const I& n) {
  return metal::ldexp(__wide_real_t<A>(a), n);
}
}  // namespace __alike
// By name, so that what programs add to either namespace stands beside them and hides none.
#define __ASSAY_ALIKE                                                                             \
  using __alike::fabs, __alike::floor, __alike::ceil, __alike::trunc, __alike::rint,              \
      __alike::round, __alike::saturate, __alike::fract, __alike::abs, __alike::sign,             \
      __alike::copysign, __alike::fmin, __alike::fmax, __alike::step, __alike::fmod,              \
      __alike::fdim, __alike::nextafter, __alike::min, __alike::max, __alike::fma, __alike::mix,  \
      __alike::smoothstep, __alike::fmin3, __alike::fmax3, __alike::fmedian3, __alike::min3,      \
      __alike::max3, __alike::median3, __alike::clamp, __alike::ldexp;                            \
  using metal::dot, metal::length, metal::length_squared, metal::distance,                        \
      metal::distance_squared, metal::normalize, metal::ilogb, metal::frexp, metal::modf,         \
      metal::isnan, metal::isinf, metal::isfinite;
namespace fast {
__ASSAY_ALIKE
__ASSAY_OWN1(__ASSAY_FAST1)
__ASSAY_OWN2(__ASSAY_FAST2)
using metal::sincos;
}  // namespace fast
namespace precise {
__ASSAY_ALIKE
__ASSAY_OWN1(__ASSAY_PRECISE1)
__ASSAY_OWN2(__ASSAY_PRECISE2)
template <class T> __ASSAY_FN T sincos(T x, T& cosine) { cosine = cos(x); return sin(x); }
}  // namespace precise
}  // namespace metal
#undef __ASSAY_ALIKE
#undef __ASSAY_OWN1
#undef __ASSAY_OWN2
#undef __ASSAY_WIDE1
#undef __ASSAY_WIDE2
#undef __ASSAY_WIDE3
#undef __ASSAY_FAST1
#undef __ASSAY_FAST2
#undef __ASSAY_PRECISE1
#undef __ASSAY_PRECISE2
