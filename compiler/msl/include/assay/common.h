// min, max, clamp, mix and their like.
#pragma once
#include "math_builtin.h"

namespace metal {
template <class T> __ASSAY_FN constexpr T __least(T x, T y) {
  if constexpr (__is_real<T>) {
    return __builtin_elementwise_minnum(x, y);
  } else {
    return y < x ? y : x;
  }
}
template <class T> __ASSAY_FN constexpr T __greatest(T x, T y) {
  if constexpr (__is_real<T>) {
    return __builtin_elementwise_maxnum(x, y);
  } else {
    return x < y ? y : x;
  }
}
__ASSAY_MAP2(__number_t, min, return __least(x, y);)
__ASSAY_MAP2(__number_t, max, return __greatest(x, y);)
// Of scalars of one type without a template, so that they go before those of programs.
#define __ASSAY_OF_INTEGERS(type)                                                                 \
  __ASSAY_FN constexpr type min(type a, type b) { return b < a ? b : a; }                         \
  __ASSAY_FN constexpr type max(type a, type b) { return a < b ? b : a; }
#define __ASSAY_OF_REALS(type)                                                                    \
  __ASSAY_FN constexpr type min(type a, type b) { return __builtin_elementwise_minnum(a, b); }    \
  __ASSAY_FN constexpr type max(type a, type b) { return __builtin_elementwise_maxnum(a, b); }
__ASSAY_OF_REALS(float) __ASSAY_OF_REALS(half)
__ASSAY_OF_INTEGERS(char) __ASSAY_OF_INTEGERS(uchar)
__ASSAY_OF_INTEGERS(short) __ASSAY_OF_INTEGERS(ushort)
__ASSAY_OF_INTEGERS(int) __ASSAY_OF_INTEGERS(uint)
__ASSAY_OF_INTEGERS(long) __ASSAY_OF_INTEGERS(ulong)
#undef __ASSAY_OF_REALS
#undef __ASSAY_OF_INTEGERS
__ASSAY_MAP3(__number_t, min3, return __least(x, __least(y, z));)
__ASSAY_MAP3(__number_t, max3, return __greatest(x, __greatest(y, z));)
__ASSAY_MAP3(__number_t, median3, return __greatest(__least(x, y), __least(__greatest(x, y), z));)
__ASSAY_MAP3(__real_t, fmin3, return __least(x, __least(y, z));)
__ASSAY_MAP3(__real_t, fmax3, return __greatest(x, __greatest(y, z));)
__ASSAY_MAP3(__real_t, fmedian3, return __greatest(__least(x, y), __least(__greatest(x, y), z));)
__ASSAY_MAP3(__number_t, clamp, return __least(__greatest(x, y), z);)
__ASSAY_MAP1(__real_t, saturate, return __least(__greatest(x, T(0.0f)), T(1.0f));)
__ASSAY_MAP3(__real_t, mix, return x + (y - x) * z;)
__ASSAY_MAP2(__real_t, step, return y < x ? T(0.0f) : T(1.0f);)
__ASSAY_MAP3(__real_t, smoothstep,
             T t = __least(__greatest((z - x) / (y - x), T(0.0f)), T(1.0f));
             return t * t * (T(3.0f) - T(2.0f) * t);)
struct __op_sign {
  template <class T> __ASSAY_MEMBER static constexpr T call(T x) {
    return x > T(0.0f) ? T(1.0f) : x < T(0.0f) ? T(-1.0f) : x == T(0.0f) ? x : T(0.0f);
  }
};
// Of floating-point numbers alone: for integers programs bring their own.
template <class A> requires (__numeric<A> && __is_real<__element<__joined_t<A>>>)
__ASSAY_FN constexpr auto sign(const A& a) { return __apply<__number_t<A>>(__op_sign{}, a); }
}  // namespace metal
