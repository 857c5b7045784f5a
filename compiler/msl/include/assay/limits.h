// numeric_limits of every number type.
#pragma once
#include "base.h"

namespace metal {
template <class T> struct _numeric_limits_impl {
  static constexpr bool is_specialized = false;
};

template <class T>
  requires(__is_integral(T))
struct _numeric_limits_impl<T> {
  static constexpr bool is_specialized = true, is_signed = __is_signed(T), is_integer = true,
                        is_exact = true, has_infinity = false, has_quiet_NaN = false,
                        is_bounded = true, is_modulo = !__is_signed(T), is_iec559 = false;
  static constexpr int digits = int(sizeof(T)) * 8 - (__is_signed(T) ? 1 : 0),
                       digits10 = digits * 301 / 1000, radix = 2, max_digits10 = 0;
  static constexpr T max() {
    if constexpr (__is_same(T, bool)) {
      return true;
    } else {
      return T(__is_signed(T) ? (~0ull >> (65 - 8 * sizeof(T))) : (~0ull >> (64 - 8 * sizeof(T))));
    }
  }
  static constexpr T min() {
    if constexpr (__is_same(T, bool)) {
      return false;
    } else {
      return __is_signed(T) ? T(-max() - 1) : T(0);
    }
  }
  static constexpr T lowest() { return min(); }
  static constexpr T epsilon() { return T(0); }
  static constexpr T infinity() { return T(0); }
  static constexpr T quiet_NaN() { return T(0); }
};

#define __ASSAY_LIMITS(T, Bits, largest, least, tiniest, step, mantissa, decimal, top, bottom)    \
  template <> struct _numeric_limits_impl<T> {                                                    \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false,            \
                          is_exact = false, has_infinity = true, has_quiet_NaN = true,            \
                          has_signaling_NaN = true, is_bounded = true, is_modulo = false,         \
                          is_iec559 = true;                                                       \
    static constexpr int digits = mantissa, digits10 = decimal, radix = 2, max_exponent = top,    \
                         min_exponent = bottom;                                                   \
    static constexpr T max() { return __builtin_bit_cast(T, Bits(largest)); }                     \
    static constexpr T min() { return __builtin_bit_cast(T, Bits(least)); }                       \
    static constexpr T lowest() { return -max(); }                                                \
    static constexpr T denorm_min() { return __builtin_bit_cast(T, Bits(tiniest)); }              \
    static constexpr T epsilon() { return __builtin_bit_cast(T, Bits(step)); }                    \
    static constexpr T round_error() { return T(0.5f); }                                          \
    static constexpr T infinity() { return T(__builtin_inff()); }                                 \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }                              \
    static constexpr T signaling_NaN() { return T(__builtin_nanf("")); }                          \
  };
__ASSAY_LIMITS(float, uint, 0x7f7fffffu, 0x00800000u, 1u, 0x34000000u, 24, 6, 128, -125)
__ASSAY_LIMITS(half, ushort, 0x7bffu, 0x0400u, 1u, 0x1400u, 11, 3, 16, -13)
__ASSAY_LIMITS(bfloat, ushort, 0x7f7fu, 0x0080u, 1u, 0x3c00u, 8, 2, 128, -125)
#undef __ASSAY_LIMITS

template <class T> struct numeric_limits : _numeric_limits_impl<T> {};
template <class T> struct numeric_limits<const T> : _numeric_limits_impl<T> {};
}  // namespace metal
