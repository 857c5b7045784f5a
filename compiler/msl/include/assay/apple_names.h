// Names from inside Apple's own headers that programs rely on.
#pragma once
#include "math_modes.h"
#include "simd_reduce.h"

// The functions behind metal::exp and its like take a flag for fast math as last argument. Without
// it, floats take the precise form where there is one: the value is the same, the time is not.
#define __ASSAY_INTERNAL1(name)                                                                   \
  template <class A> __ASSAY_FN auto __metal_##name(const A& a, bool = true) { return metal::name(a); }
#define __ASSAY_INTERNAL2(name)                                                                   \
  template <class A, class B>                                                                     \
  __ASSAY_FN auto __metal_##name(const A& a, const B& b, bool = true) { return metal::name(a, b); }
#define __ASSAY_INTERNAL3(name)                                                                   \
  template <class A, class B, class C>                                                            \
  __ASSAY_FN auto __metal_##name(const A& a, const B& b, const C& c, bool = true) {               \
    return metal::name(a, b, c);                                                                  \
  }
#define __ASSAY_INTERNAL_MODE1(name)                                                              \
  template <class A> __ASSAY_FN auto __metal_##name(const A& a, bool fast = true) {               \
    if constexpr (__is_same(A, float)) return fast ? metal::name(a) : metal::precise::name(a);    \
    else return metal::name(a);                                                                   \
  }
#define __ASSAY_INTERNAL_MODE2(name)                                                              \
  template <class A, class B>                                                                     \
  __ASSAY_FN auto __metal_##name(const A& a, const B& b, bool fast = true) {                      \
    if constexpr (__is_same(A, float) && __is_same(B, float))                                     \
      return fast ? metal::name(a, b) : metal::precise::name(a, b);                               \
    else return metal::name(a, b);                                                                \
  }
__ASSAY_INTERNAL1(abs) __ASSAY_INTERNAL1(fabs) __ASSAY_INTERNAL1(ceil) __ASSAY_INTERNAL1(floor)
__ASSAY_INTERNAL1(fract) __ASSAY_INTERNAL1(ilogb) __ASSAY_INTERNAL1(rint) __ASSAY_INTERNAL1(round)
__ASSAY_INTERNAL1(trunc) __ASSAY_INTERNAL1(isnan) __ASSAY_INTERNAL1(isinf)
__ASSAY_INTERNAL1(isfinite) __ASSAY_INTERNAL1(isnormal) __ASSAY_INTERNAL1(signbit)
__ASSAY_INTERNAL1(saturate) __ASSAY_INTERNAL1(sign) __ASSAY_INTERNAL1(clz) __ASSAY_INTERNAL1(ctz)
__ASSAY_INTERNAL1(popcount)
__ASSAY_INTERNAL_MODE1(acos) __ASSAY_INTERNAL_MODE1(acosh) __ASSAY_INTERNAL_MODE1(asin)
__ASSAY_INTERNAL_MODE1(asinh) __ASSAY_INTERNAL_MODE1(atan) __ASSAY_INTERNAL_MODE1(atanh)
__ASSAY_INTERNAL_MODE1(cos) __ASSAY_INTERNAL_MODE1(cosh) __ASSAY_INTERNAL_MODE1(cospi)
__ASSAY_INTERNAL_MODE1(exp) __ASSAY_INTERNAL_MODE1(exp2) __ASSAY_INTERNAL_MODE1(exp10)
__ASSAY_INTERNAL_MODE1(log) __ASSAY_INTERNAL_MODE1(log2) __ASSAY_INTERNAL_MODE1(log10)
__ASSAY_INTERNAL_MODE1(rsqrt) __ASSAY_INTERNAL_MODE1(sin) __ASSAY_INTERNAL_MODE1(sinh)
__ASSAY_INTERNAL_MODE1(sinpi) __ASSAY_INTERNAL_MODE1(sqrt) __ASSAY_INTERNAL_MODE1(tan)
__ASSAY_INTERNAL_MODE1(tanh) __ASSAY_INTERNAL_MODE1(tanpi)
__ASSAY_INTERNAL2(copysign) __ASSAY_INTERNAL2(fdim) __ASSAY_INTERNAL2(fmax)
__ASSAY_INTERNAL2(fmin) __ASSAY_INTERNAL2(fmod) __ASSAY_INTERNAL2(max) __ASSAY_INTERNAL2(min)
__ASSAY_INTERNAL2(nextafter) __ASSAY_INTERNAL2(ldexp) __ASSAY_INTERNAL2(mulhi)
__ASSAY_INTERNAL2(step)
__ASSAY_INTERNAL_MODE2(atan2) __ASSAY_INTERNAL_MODE2(divide) __ASSAY_INTERNAL_MODE2(pow)
__ASSAY_INTERNAL_MODE2(powr)
__ASSAY_INTERNAL3(fma) __ASSAY_INTERNAL3(clamp) __ASSAY_INTERNAL3(fmax3) __ASSAY_INTERNAL3(fmin3)
__ASSAY_INTERNAL3(fmedian3) __ASSAY_INTERNAL3(max3) __ASSAY_INTERNAL3(min3)
__ASSAY_INTERNAL3(median3) __ASSAY_INTERNAL3(mix)
#undef __ASSAY_INTERNAL1
#undef __ASSAY_INTERNAL2
#undef __ASSAY_INTERNAL3
#undef __ASSAY_INTERNAL_MODE1
#undef __ASSAY_INTERNAL_MODE2

template <class T, class I> __ASSAY_FN T __metal_frexp(T x, I* exponent, bool = true) { return metal::frexp(x, *exponent); }
template <class T> __ASSAY_FN T __metal_modf(T x, T* whole, bool = true) { return metal::modf(x, *whole); }
template <class T> __ASSAY_FN T __metal_sincos(T x, T* cosine, bool = true) { return metal::sincos(x, *cosine); }

#define __ASSAY_INTERNAL_SIMD1(name)                                                              \
  template <class T> __ASSAY_LANE_FN auto __metal_##name(T v) { return metal::name(v); }
#define __ASSAY_INTERNAL_SIMD2(name)                                                              \
  template <class T> __ASSAY_LANE_FN auto __metal_##name(T v, ushort n) { return metal::name(v, n); }
#define __ASSAY_INTERNAL_GROUP(group)                                                             \
  __ASSAY_INTERNAL_SIMD1(group##_sum) __ASSAY_INTERNAL_SIMD1(group##_product)                      \
  __ASSAY_INTERNAL_SIMD1(group##_min) __ASSAY_INTERNAL_SIMD1(group##_max)                          \
  __ASSAY_INTERNAL_SIMD1(group##_and) __ASSAY_INTERNAL_SIMD1(group##_or)                           \
  __ASSAY_INTERNAL_SIMD1(group##_xor) __ASSAY_INTERNAL_SIMD1(group##_prefix_inclusive_sum)         \
  __ASSAY_INTERNAL_SIMD1(group##_prefix_exclusive_sum)                                            \
  __ASSAY_INTERNAL_SIMD1(group##_prefix_inclusive_product)                                        \
  __ASSAY_INTERNAL_SIMD1(group##_prefix_exclusive_product)                                        \
  __ASSAY_INTERNAL_SIMD2(group##_shuffle) __ASSAY_INTERNAL_SIMD2(group##_broadcast)                \
  __ASSAY_INTERNAL_SIMD2(group##_shuffle_down) __ASSAY_INTERNAL_SIMD2(group##_shuffle_up)          \
  __ASSAY_INTERNAL_SIMD2(group##_shuffle_xor) __ASSAY_INTERNAL_SIMD2(group##_shuffle_rotate_down)  \
  __ASSAY_INTERNAL_SIMD2(group##_shuffle_rotate_up)                                               \
  template <class T> __ASSAY_LANE_FN auto __metal_##group##_shuffle_and_fill_down(                \
      T v, T f, ushort n, ushort m) { return metal::group##_shuffle_and_fill_down(v, f, n, m); }  \
  template <class T> __ASSAY_LANE_FN auto __metal_##group##_shuffle_and_fill_up(                  \
      T v, T f, ushort n, ushort m) { return metal::group##_shuffle_and_fill_up(v, f, n, m); }
__ASSAY_INTERNAL_GROUP(simd)
__ASSAY_INTERNAL_GROUP(quad)
__ASSAY_INTERNAL_SIMD1(simd_broadcast_first)
#undef __ASSAY_INTERNAL_GROUP
#undef __ASSAY_INTERNAL_SIMD2
#undef __ASSAY_INTERNAL_SIMD1
using metal::__metal_get_simdgroup_size;
using metal::__metal_get_thread_index_in_simdgroup;
