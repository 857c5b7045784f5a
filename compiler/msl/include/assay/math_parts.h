// Functions on the parts of a floating-point number, and remainders.
#pragma once
#include "math_scalar.h"
#include "relational.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
// The exact remainder of |x| by |y|, 28 bits of the quotient at a time.
__ASSAY_FN constexpr float fmod(float x, float y) {
  double divisor = magnitude(y), rest = magnitude(x);
  while ((rest >= divisor) & (divisor > 0.0) & (rest < (double)infinity())) {
    // The largest divisor * 2^k that leaves a quotient below 2^28.
    long gap = ((__builtin_bit_cast(long, rest) >> 52) - (__builtin_bit_cast(long, divisor) >> 52)) - 27;
    double factor = __builtin_bit_cast(double, (1023l + (gap > 0 ? gap : 0l)) << 52);
    double multiple = divisor * factor;
    double quotient = __builtin_elementwise_trunc(rest / multiple);
    double next = fused(-quotient, multiple, rest);
    next = next < 0.0 ? next + multiple : next;
    rest = next >= multiple ? next - multiple : next;
  }
  float result = with_sign((float)rest, x);
  bool undefined = (x != x) | (y != y) | (y == 0.0f) | (magnitude(x) == infinity());
  return undefined ? not_a_number() : result;
}
struct fraction_and_exponent { float fraction; int exponent; };
// x = fraction * 2^exponent with 1/2 <= |fraction| < 1; zero, infinity and NaN give themselves and 0.
__ASSAY_FN constexpr fraction_and_exponent frexp(float x) {
  bool tiny = magnitude(x) < 0x1p-126f;
  int bits = to_bits(tiny ? x * 0x1p+24f : x);
  int exponent = ((bits >> 23) & 0xff) - 126 - (tiny ? 24 : 0);
  float fraction = to_float((bits & 0x807fffff) | 0x3f000000);
  bool special = (x == 0.0f) | !(magnitude(x) < infinity());
  return {special ? x : fraction, special ? 0 : exponent};
}
// x * 2^n for every n, rounded once.
__ASSAY_FN constexpr float ldexp(float x, int n) {
  int bounded = n > 300 ? 300 : n < -300 ? -300 : n;
  // In double the product is exact; the one rounding is that to float.
  double factor = __builtin_bit_cast(double, (1023l + bounded) << 52);
  return (float)((double)x * factor);
}
__ASSAY_FN constexpr int ilogb(float x) {
  int exponent = frexp(x).exponent - 1;
  exponent = magnitude(x) == infinity() ? 2147483647 : exponent;
  return (x == 0.0f) | (x != x) ? -2147483647 - 1 : exponent;
}
}  // namespace __scalar

// The next number of the same type from x towards y.
template <class T> __ASSAY_FN constexpr T __next_after(T x, T y) {
  using U = typename __bits_of<T>::type;
  U bits = __bits(x);
  bool away = x == T(0.0f) || ((x < y) == (x > T(0.0f)));
  U moved = x == T(0.0f) ? U(U(__bits(y) & U(~__magnitude_bits<T>)) | U(1)) : away ? U(bits + 1) : U(bits - 1);
  T result = __builtin_bit_cast(T, moved);
  result = x == y ? y : result;
  return x != x ? x : y != y ? y : result;
}

__ASSAY_FLOAT2(fmod)
__ASSAY_MAP2(__real_t, fdim, return x != x ? x : y != y ? y : x > y ? T(x - y) : T(0.0f);)
__ASSAY_MAP2(__real_t, divide, return T(x / y);)
// The one function that there is of bfloat.
template <class... A> using __next_t = __real_of<__joined_t<A...>>;
__ASSAY_MAP2(__next_t, nextafter, return __next_after(x, y);)
// Below 1 whatever the rounding; of a NaN a NaN, of an infinity zero.
__ASSAY_MAP1(__real_t, fract,
             T below = T(1.0f) - (sizeof(T) == 4 ? T(0x1p-24f) : __is_same(T, half) ? T(0x1p-11f) : T(0x1p-8f));
             T f = T(x - __builtin_elementwise_floor(x));
             f = f > below ? below : f;
             return (__bits(x) & __magnitude_bits<T>) == __exponent_bits<T> ? T(0.0f) : f;)
__ASSAY_MAP1(__real_t, ilogb, return __scalar::ilogb((float)x);)

template <class T, class I> requires (__numeric<T> && __numeric<I>)
__ASSAY_FN constexpr auto ldexp(const T& x, const I& n) {
  using R = __real_t<T>;
  using E = __element<R>;
  if constexpr (!__is_vec<R>) {
    return (E)__scalar::ldexp((float)x, (int)n);
  } else {
    R r;
    vec<int, __count<R>> k(n);
    for (int i = 0; i < __count<R>; ++i) r.__e[i] = (E)__scalar::ldexp((float)x.__v[i], k.__v[i]);
    return r;
  }
}
template <class T, class I>
__ASSAY_FN T frexp(T x, I& exponent) {
  if constexpr (!__is_vec<T>) {
    __scalar::fraction_and_exponent parts = __scalar::frexp((float)x);
    exponent = parts.exponent;
    return (T)parts.fraction;
  } else {
    T r;
    for (int i = 0; i < __count<T>; ++i) r.__e[i] = frexp(x.__e[i], exponent.__e[i]);
    return r;
  }
}
// The fraction, with the sign of x; `whole` receives the rest.
template <class T>
__ASSAY_FN T modf(T x, T& whole) {
  if constexpr (!__is_vec<T>) {
    whole = __builtin_elementwise_trunc(x);
    T fraction = (__bits(x) & __magnitude_bits<T>) == __exponent_bits<T> ? T(0.0f) : T(x - whole);
    return __builtin_elementwise_copysign(fraction, x);
  } else {
    T r;
    for (int i = 0; i < __count<T>; ++i) r.__e[i] = modf(x.__e[i], whole.__e[i]);
    return r;
  }
}
}  // namespace metal
