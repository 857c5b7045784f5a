// Parts that the elementary functions share. No branches: the engine runs these on many lanes.
#pragma once
#include "common.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
__ASSAY_FN constexpr float fused(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
__ASSAY_FN constexpr double fused(double a, double b, double c) { return __builtin_elementwise_fma(a, b, c); }
__ASSAY_FN constexpr float magnitude(float x) { return __builtin_elementwise_abs(x); }
__ASSAY_FN constexpr float with_sign(float x, float s) { return __builtin_elementwise_copysign(x, s); }
__ASSAY_FN constexpr int to_bits(float x) { return __builtin_bit_cast(int, x); }
__ASSAY_FN constexpr float to_float(int bits) { return __builtin_bit_cast(float, bits); }
__ASSAY_FN constexpr float infinity() { return __builtin_inff(); }
__ASSAY_FN constexpr float not_a_number() { return __builtin_nanf(""); }

// c[0] + c[1] x + c[2] x^2 ..., by Horner's rule in fused steps.
template <class T> __ASSAY_FN constexpr T horner(T, T c) { return c; }
template <class T, class... C>
__ASSAY_FN constexpr T horner(T x, T c, C... rest) {
  return fused(horner(x, (T)rest...), x, c);
}

// The nearest integer, as a float and as an int; |x| < 2^22. Adding 1.5 * 2^23 leaves the integer
// in the low bits of the sum, for any x without undefined conversions (NaN gives some integer).
struct nearest_integer { float value; int integer; };
__ASSAY_FN constexpr nearest_integer nearest(float x) {
  float shifted = x + 12582912.0f;
  return {shifted - 12582912.0f, to_bits(shifted) - 0x4b400000};
}
// 2^n for -126 <= n <= 127.
__ASSAY_FN constexpr float power_of_two(int n) { return to_float((n + 127) << 23); }
// x * 2^n for |n| <= 252, rounded once (the first factor keeps x normal when the result is not).
__ASSAY_FN constexpr float scale(float x, int n) {
  int half_way = n >> 1;
  return x * power_of_two(half_way) * power_of_two(n - half_way);
}
}  // namespace __scalar

// Function of one number computed in float and rounded to its type. The overloads on scalars go
// before templates of programs where both fit, as Apple's do; there are none of bfloat, which programs
// add (MLX).
#define __ASSAY_FLOAT1(name)                                                                      \
  struct __op_##name {                                                                            \
    __ASSAY_CALL1(name, float) __ASSAY_CALL1(name, half)                                          \
    template <class T> __ASSAY_CALL1(name, T)                                                     \
  };                                                                                              \
  __ASSAY_LIFT1(__real_t, name) __ASSAY_SCALAR1(name, float) __ASSAY_SCALAR1(name, half)
#define __ASSAY_FLOAT2(name)                                                                      \
  struct __op_##name {                                                                            \
    __ASSAY_CALL2(name, float) __ASSAY_CALL2(name, half)                                          \
    template <class T> __ASSAY_CALL2(name, T)                                                     \
  };                                                                                              \
  __ASSAY_LIFT2(__real_t, name) __ASSAY_SCALAR2(name, float) __ASSAY_SCALAR2(name, half)
// What the overloads call is no template: that would be made here, in each run of the compiler.
#define __ASSAY_CALL1(name, type)                                                                 \
  __ASSAY_MEMBER static constexpr type call(type x) { return (type)__scalar::name((float)x); }
#define __ASSAY_CALL2(name, type)                                                                 \
  __ASSAY_MEMBER static constexpr type call(type x, type y) {                                     \
    return (type)__scalar::name((float)x, (float)y);                                              \
  }
#define __ASSAY_SCALAR1(name, type)                                                               \
  __ASSAY_FN constexpr type name(type a) { return __op_##name::call(a); }
#define __ASSAY_SCALAR2(name, type)                                                               \
  __ASSAY_FN constexpr type name(type a, type b) { return __op_##name::call(a, b); }
}  // namespace metal
