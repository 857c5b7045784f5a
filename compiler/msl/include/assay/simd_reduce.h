// Reductions and scans over the active lanes of a simdgroup or quadgroup.
#pragma once
#include "simdgroup.h"

namespace metal {
// Every number type is reduced in one of five: float for the small floats, 32 bits for small integers.
template <class T> struct __wide { using type = conditional_t<__is_signed(T), int, uint>; };
template <> struct __wide<float> { using type = float; };
template <> struct __wide<half> { using type = float; };
template <> struct __wide<bfloat> { using type = float; };
template <> struct __wide<long> { using type = long; };
template <> struct __wide<ulong> { using type = ulong; };
template <> struct __wide<long long> { using type = long; };
template <> struct __wide<unsigned long long> { using type = ulong; };
template <class T> using __wide_t = typename __wide<T>::type;

#define __ASSAY_DISPATCH(op, s, u, S, U)                                                          \
  template <int Width> struct __reduce_##op {                                                     \
    template <class T> __ASSAY_LANE_FN static T call(T x) {                                       \
      using W = __wide_t<T>;                                                                      \
      if constexpr (__is_same(W, float)) {                                                        \
        return (T)__assay_simd_##op##_f32((float)x, Width);                                       \
      } else if constexpr (__is_same(W, int)) {                                                   \
        return (T)__assay_simd_##op##_i32((int)x, Width);                                         \
      } else if constexpr (__is_same(W, uint)) {                                                  \
        return (T)__assay_simd_##op##_##u##32((U)x, Width);                                       \
      } else if constexpr (__is_same(W, long)) {                                                  \
        return (T)__assay_simd_##op##_i64((long)x, Width);                                        \
      } else {                                                                                    \
        return (T)__assay_simd_##op##_##u##64((U##64)x, Width);                                   \
      }                                                                                           \
    }                                                                                             \
  };
using __u = uint; using __u64 = ulong; using __i = int; using __i64 = long;
__ASSAY_DISPATCH(sum, i, u, int, __u)
__ASSAY_DISPATCH(product, i, u, int, __u)
__ASSAY_DISPATCH(min, i, u, int, __u)
__ASSAY_DISPATCH(max, i, u, int, __u)
__ASSAY_DISPATCH(prefix_inclusive_sum, i, i, int, __i)
__ASSAY_DISPATCH(prefix_exclusive_sum, i, i, int, __i)
__ASSAY_DISPATCH(prefix_inclusive_product, i, i, int, __i)
__ASSAY_DISPATCH(prefix_exclusive_product, i, i, int, __i)
#undef __ASSAY_DISPATCH

#define __ASSAY_DISPATCH_BITS(op)                                                                 \
  template <int Width> struct __reduce_##op {                                                     \
    template <class T> __ASSAY_LANE_FN static T call(T x) {                                       \
      if constexpr (sizeof(T) == 8) {                                                             \
        return (T)__assay_simd_##op##_u64((ulong)x, Width);                                       \
      } else {                                                                                    \
        return (T)__assay_simd_##op##_u32((uint)x, Width);                                        \
      }                                                                                           \
    }                                                                                             \
  };
__ASSAY_DISPATCH_BITS(and)
__ASSAY_DISPATCH_BITS(or)
__ASSAY_DISPATCH_BITS(xor)
#undef __ASSAY_DISPATCH_BITS

template <class F, class T>
__ASSAY_LANE_FN T __reduce_all(F, T value) {
  if constexpr (!__is_vec<T>) {
    return F::call(value);
  } else {
    T result;
    for (int i = 0; i < __count<T>; ++i) result.__e[i] = F::call(value.__e[i]);
    return result;
  }
}
#define __ASSAY_REDUCTION(name)                                                                   \
  template <class T> requires __numeric<T>                                                        \
  __ASSAY_LANE_FN __moved_t<T> simd_##name(T v) {                                                 \
    return __reduce_all<__reduce_##name<32>, __moved_t<T>>({}, v);                                \
  }                                                                                               \
  template <class T> requires __numeric<T>                                                        \
  __ASSAY_LANE_FN __moved_t<T> quad_##name(T v) {                                                 \
    return __reduce_all<__reduce_##name<4>, __moved_t<T>>({}, v);                                 \
  }
__ASSAY_REDUCTION(sum)
__ASSAY_REDUCTION(product)
__ASSAY_REDUCTION(min)
__ASSAY_REDUCTION(max)
__ASSAY_REDUCTION(and)
__ASSAY_REDUCTION(or)
__ASSAY_REDUCTION(xor)
__ASSAY_REDUCTION(prefix_inclusive_sum)
__ASSAY_REDUCTION(prefix_exclusive_sum)
__ASSAY_REDUCTION(prefix_inclusive_product)
__ASSAY_REDUCTION(prefix_exclusive_product)
#undef __ASSAY_REDUCTION
}  // namespace metal
