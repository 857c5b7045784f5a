// Operations of constants that clang would compute to no value, as calls: `1 <<__assay_shift<< 33`.
#pragma once
#include "base.h"

struct __assay_shift_tag {};
struct __assay_divide_tag {};
constexpr __assay_shift_tag __assay_shift;
constexpr __assay_divide_tag __assay_divide;
template <class T> struct __assay_shifted { T value; };
template <class T> struct __assay_dividend { T value; };

template <class T> __ASSAY_FN constexpr auto operator<<(T a, __assay_shift_tag) {
  return __assay_shifted<decltype(+a)>{+a};
}
template <class T> __ASSAY_FN constexpr auto operator>>(T a, __assay_shift_tag) {
  return __assay_shifted<decltype(+a)>{+a};
}
template <class T, class U> __ASSAY_FN constexpr T operator<<(__assay_shifted<T> a, U count) {
  return a.value << (count & (8 * sizeof(T) - 1));
}
template <class T, class U> __ASSAY_FN constexpr T operator>>(__assay_shifted<T> a, U count) {
  return a.value >> (count & (8 * sizeof(T) - 1));
}

template <class T> __ASSAY_FN constexpr auto operator/(T a, __assay_divide_tag) {
  return __assay_dividend<T>{a};
}
template <class T> __ASSAY_FN constexpr auto operator%(T a, __assay_divide_tag) {
  return __assay_dividend<T>{a};
}
template <class T, class U> __ASSAY_FN constexpr auto operator/(__assay_dividend<T> a, U b) {
  return a.value / b;
}
template <class T, class U> __ASSAY_FN constexpr auto operator%(__assay_dividend<T> a, U b) {
  return a.value % b;
}
