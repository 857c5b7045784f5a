// Tests of floating-point numbers, and choices by bool vectors.
#pragma once
#include "common.h"

namespace metal {
template <class T> struct __bits_of { using type = uint; };
template <> struct __bits_of<half> { using type = ushort; };
template <> struct __bits_of<bfloat> { using type = ushort; };
template <class T> __ASSAY_FN constexpr auto __bits(T x) {
  return __builtin_bit_cast(typename __bits_of<T>::type, x);
}
template <class T> constexpr uint __exponent_bits = 0x7f800000u;
template <> constexpr uint __exponent_bits<half> = 0x7c00u;
template <> constexpr uint __exponent_bits<bfloat> = 0x7f80u;
template <class T> constexpr uint __magnitude_bits = sizeof(T) == 2 ? 0x7fffu : 0x7fffffffu;
template <class T> constexpr uint __least_normal_bits = 0x00800000u;
template <> constexpr uint __least_normal_bits<half> = 0x0400u;
template <> constexpr uint __least_normal_bits<bfloat> = 0x0080u;

__ASSAY_MAP1(__real_t, isnan, return x != x;)
__ASSAY_MAP1(__real_t, isinf, return (__bits(x) & __magnitude_bits<T>) == __exponent_bits<T>;)
__ASSAY_MAP1(__real_t, isfinite, return (__bits(x) & __magnitude_bits<T>) < __exponent_bits<T>;)
__ASSAY_MAP1(__real_t, isnormal,
             uint m = __bits(x) & __magnitude_bits<T>;
             return bool((m >= __least_normal_bits<T>) & (m < __exponent_bits<T>));)
__ASSAY_MAP1(__real_t, signbit, return (__bits(x) >> (sizeof(T) * 8 - 1)) != 0;)
__ASSAY_MAP2(__real_t, isequal, return x == y;)
__ASSAY_MAP2(__real_t, isnotequal, return x != y;)
__ASSAY_MAP2(__real_t, isgreater, return x > y;)
__ASSAY_MAP2(__real_t, isgreaterequal, return x >= y;)
__ASSAY_MAP2(__real_t, isless, return x < y;)
__ASSAY_MAP2(__real_t, islessequal, return x <= y;)
__ASSAY_MAP2(__real_t, islessgreater, return bool((x < y) | (x > y));)
__ASSAY_MAP2(__real_t, isordered, return bool((x == x) & (y == y));)
__ASSAY_MAP2(__real_t, isunordered, return bool((x != x) | (y != y));)

__ASSAY_FN constexpr bool any(bool v) { return v; }
__ASSAY_FN constexpr bool all(bool v) { return v; }
__ASSAY_FN constexpr bool any(vec<bool, 2> v) { return (v.__v[0] | v.__v[1]) != 0; }
__ASSAY_FN constexpr bool all(vec<bool, 2> v) { return (v.__v[0] & v.__v[1]) != 0; }
__ASSAY_FN constexpr bool any(vec<bool, 3> v) { return (v.__v[0] | v.__v[1] | v.__v[2]) != 0; }
__ASSAY_FN constexpr bool all(vec<bool, 3> v) { return (v.__v[0] & v.__v[1] & v.__v[2]) != 0; }
__ASSAY_FN constexpr bool any(vec<bool, 4> v) {
  return (v.__v[0] | v.__v[1] | v.__v[2] | v.__v[3]) != 0;
}
__ASSAY_FN constexpr bool all(vec<bool, 4> v) {
  return (v.__v[0] & v.__v[1] & v.__v[2] & v.__v[3]) != 0;
}

template <int I, class C> __ASSAY_FN constexpr bool __chosen(const C& c) {
  if constexpr (__is_vec<C>) {
    return c.__v[I] != 0;
  } else {
    return bool(c);
  }
}
// select(a, b, c): b where c holds, else a. Both are values: they are read whatever c is.
template <class A, class B, class C> requires (__numeric<A, B, C> && (__is_same(__element<C>, bool) || !__is_vec<C>))
__ASSAY_FN constexpr auto select(const A& a, const B& b, const C& c) {
  using R = __joined_t<A, B>;
  using E = __element<R>;
  if constexpr (!__is_vec<R>) {
    const E no = __convert<E>(a), yes = __convert<E>(b);
    return bool(c) ? yes : no;
  } else if constexpr (__count<R> == 2) {
    const E no[] = {__lane<E, 0>(a), __lane<E, 1>(a)}, yes[] = {__lane<E, 0>(b), __lane<E, 1>(b)};
    return __gather<E>(__chosen<0>(c) ? yes[0] : no[0], __chosen<1>(c) ? yes[1] : no[1]);
  } else if constexpr (__count<R> == 3) {
    const E no[] = {__lane<E, 0>(a), __lane<E, 1>(a), __lane<E, 2>(a)};
    const E yes[] = {__lane<E, 0>(b), __lane<E, 1>(b), __lane<E, 2>(b)};
    return __gather<E>(__chosen<0>(c) ? yes[0] : no[0], __chosen<1>(c) ? yes[1] : no[1],
                       __chosen<2>(c) ? yes[2] : no[2]);
  } else {
    const E no[] = {__lane<E, 0>(a), __lane<E, 1>(a), __lane<E, 2>(a), __lane<E, 3>(a)};
    const E yes[] = {__lane<E, 0>(b), __lane<E, 1>(b), __lane<E, 2>(b), __lane<E, 3>(b)};
    return __gather<E>(__chosen<0>(c) ? yes[0] : no[0], __chosen<1>(c) ? yes[1] : no[1],
                       __chosen<2>(c) ? yes[2] : no[2], __chosen<3>(c) ? yes[3] : no[3]);
  }
}
}  // namespace metal
