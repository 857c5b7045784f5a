// Integer functions.
#pragma once
#include "relational.h"

namespace metal {
template <class T> constexpr int __width = sizeof(T) * 8;
template <class T> using __unsigned_of = __make_unsigned(T);
template <class T> constexpr T __largest = T(__is_signed(T) ? (__unsigned_of<T>(~0ull) >> 1) : __unsigned_of<T>(~0ull));
template <class T> constexpr T __lowest = T(~__largest<T>);

__ASSAY_MAP1(__number_t, abs,
             if constexpr (__is_real<T>) { return __builtin_elementwise_abs(x); }
             else { return x < 0 ? T(-x) : x; })
__ASSAY_MAP2(__number_t, absdiff,
             return x < y ? __unsigned_of<T>(__unsigned_of<T>(y) - __unsigned_of<T>(x))
                          : __unsigned_of<T>(__unsigned_of<T>(x) - __unsigned_of<T>(y));)
__ASSAY_MAP2(__number_t, addsat, return __builtin_elementwise_add_sat(x, y);)
__ASSAY_MAP2(__number_t, subsat, return __builtin_elementwise_sub_sat(x, y);)
__ASSAY_MAP2(__number_t, hadd, return T((x >> 1) + (y >> 1) + (x & y & T(1)));)
__ASSAY_MAP2(__number_t, rhadd, return T((x >> 1) + (y >> 1) + ((x | y) & T(1)));)
__ASSAY_MAP1(__number_t, popcount, return T(__builtin_popcountg(__unsigned_of<T>(x)));)
__ASSAY_MAP1(__number_t, clz, return T(__builtin_clzg(__unsigned_of<T>(x), __width<T>));)
__ASSAY_MAP1(__number_t, ctz, return T(__builtin_ctzg(__unsigned_of<T>(x), __width<T>));)
__ASSAY_MAP1(__number_t, reverse_bits, return __builtin_elementwise_bitreverse(x);)
__ASSAY_MAP2(__number_t, rotate,
             using U = __unsigned_of<T>; U n = U(y) & U(__width<T> - 1);
             return T(U(U(x) << n) | U(U(x) >> (U(-n) & U(__width<T> - 1))));)

template <class T> __ASSAY_FN constexpr T __multiply_high(T x, T y) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (__is_signed(T)) {
      return T((__int128(x) * y) >> 64);
    } else {
      return T((static_cast<unsigned __int128>(x) * y) >> 64);
    }
  } else if constexpr (__is_signed(T)) {
    return T((long(x) * long(y)) >> __width<T>);
  } else {
    return T((ulong(x) * ulong(y)) >> __width<T>);
  }
}
__ASSAY_MAP2(__number_t, mulhi, return __multiply_high(x, y);)
__ASSAY_MAP3(__number_t, madhi, return T(__unsigned_of<T>(__multiply_high(x, y)) + __unsigned_of<T>(z));)
__ASSAY_MAP3(__number_t, madsat,
             if constexpr (sizeof(T) == 8) {
               using W = conditional_t<__is_signed(T), __int128, unsigned __int128>;
               W w = W(x) * W(y) + W(z);
               return w > W(__largest<T>) ? __largest<T> : w < W(__lowest<T>) ? __lowest<T> : T(w);
             } else {
               using W = conditional_t<__is_signed(T), long, ulong>;
               W w = W(x) * W(y) + W(z);
               return w > W(__largest<T>) ? __largest<T> : w < W(__lowest<T>) ? __lowest<T> : T(w);
             })
// The low 24 bits of each operand count.
__ASSAY_MAP2(__number_t, mul24, return T((T(x << 8) >> 8) * (T(y << 8) >> 8));)
__ASSAY_MAP3(__number_t, mad24, return T((T(x << 8) >> 8) * (T(y << 8) >> 8) + z);)

struct __op_extract_bits {
  template <class T> __ASSAY_MEMBER static constexpr T call(T x, T offset, T bits) {
    // Two shifts: the field to the top, then down with its sign. No bits give zero.
    uint count = uint(bits);
    uint up = uint(__width<T>) - uint(offset) - count;
    uint down = uint(__width<T>) - count;
    T moved = T(__unsigned_of<T>(x) << (up & uint(__width<T> - 1)));
    return count == 0 ? T(0) : T(moved >> (down & uint(__width<T> - 1)));
  }
};
template <class A> requires __numeric<A>
__ASSAY_FN constexpr auto extract_bits(const A& x, uint offset, uint bits) {
  return __apply<__joined_t<A>>(__op_extract_bits{}, x, offset, bits);
}
struct __op_insert_bits {
  template <class T> __ASSAY_MEMBER static constexpr T call(T base, T insert, T offset, T bits) {
    using U = __unsigned_of<T>;
    uint count = uint(bits);
    U mask = count >= uint(__width<T>) ? U(~U(0)) : U((U(1) << (count & uint(__width<T> - 1))) - 1);
    uint at = uint(offset) & uint(__width<T> - 1);
    return T((U(base) & U(~U(mask << at))) | U(U(U(insert) & mask) << at));
  }
};
template <class A, class B> requires __numeric<A, B>
__ASSAY_FN constexpr auto insert_bits(const A& base, const B& insert, uint offset, uint bits) {
  return __apply<__joined_t<A, B>>(__op_insert_bits{}, base, insert, offset, bits);
}
}  // namespace metal
