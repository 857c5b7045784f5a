// as_type<T>(value): the same bits as another type of the same size.
#pragma once
#include "vector_operators.h"

namespace metal {
template <class T> struct __plain_bits { using type = T; };
template <class T, int N> struct __plain_bits<vec<T, N>> { using type = __native<T, N>; };
}  // namespace metal

template <class To, class From>
__ASSAY_FN constexpr To as_type(From value) {
  using V = metal::__unpacked_t<From>;
  using Target = typename metal::__plain_bits<To>::type;
  static_assert(sizeof(To) == sizeof(V), "as_type needs two types of the same size");
  if constexpr (metal::__is_vec<To>) {
    if constexpr (metal::__is_vec<V>) {
      return To::__from(__builtin_bit_cast(Target, V(value).__v));
    } else {
      return To::__from(__builtin_bit_cast(Target, value));
    }
  } else if constexpr (metal::__is_vec<V>) {
    return __builtin_bit_cast(To, V(value).__v);
  } else {
    return __builtin_bit_cast(To, value);
  }
}
namespace metal { using ::as_type; }
