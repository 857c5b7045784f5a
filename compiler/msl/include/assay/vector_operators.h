// Operators of vectors. A scalar operand is spread over the lanes.
#pragma once
#include "vector.h"

namespace metal {
// The common vector of two operands: a vector and itself, or a vector and a scalar.
template <class A, class B> struct __common_vec {};
template <class T, int N> struct __common_vec<vec<T, N>, vec<T, N>> { using type = vec<T, N>; };
template <class T, int N, __scalar_like B> struct __common_vec<vec<T, N>, B> { using type = vec<T, N>; };
template <class T, int N, __scalar_like A> struct __common_vec<A, vec<T, N>> { using type = vec<T, N>; };
template <class A, class B>
using __common_vec_t = typename __common_vec<__unpacked_t<A>, __unpacked_t<B>>::type;

template <class V> using __bools = vec<bool, __count<V>>;

// A native comparison gives -1 or 0 in a signed type of the same width.
template <int N, class M>
__ASSAY_FN constexpr vec<bool, N> __mask(M mask) {
  return vec<bool, N>::__from(__builtin_convertvector(mask, __native<bool, N>) & (unsigned char)1);
}

// Sums of products are fused as the program says; which calls are is seen by what they are called
// (`vector_products.py`).
#if defined(__ASSAY_VECTORS_APART)
#define __ASSAY_FUSED __apart
#elif defined(__ASSAY_CONTRACT) && !defined(__ASSAY_VECTORS_WITHIN)
#define __ASSAY_FUSED __across
#else
#define __ASSAY_FUSED __within
#endif
inline namespace __ASSAY_FUSED {
#define __ASSAY_ARITHMETIC(op)                                                                    \
  template <class A, class B, class V = __common_vec_t<A, B>>                                     \
  __ASSAY_FN constexpr V operator op(const A& a, const B& b) {                                    \
    return V::__from(V(a).__v op V(b).__v);                                                       \
  }                                                                                               \
  template <class T, int N, class B, class = __common_vec_t<vec<T, N>, B>>                        \
  __ASSAY_FN constexpr vec<T, N>& operator op##=(vec<T, N>& a, const B& b) {                      \
    a.__v = a.__v op vec<T, N>(b).__v;                                                            \
    return a;                                                                                     \
  }
__ASSAY_ARITHMETIC(+)
__ASSAY_ARITHMETIC(-)
__ASSAY_ARITHMETIC(*)
__ASSAY_ARITHMETIC(/)
__ASSAY_ARITHMETIC(%)
__ASSAY_ARITHMETIC(&)
__ASSAY_ARITHMETIC(|)
__ASSAY_ARITHMETIC(^)
#undef __ASSAY_ARITHMETIC
}  // namespace __ASSAY_FUSED

// The count of a shift is taken modulo the width, as the GPU does.
#define __ASSAY_SHIFT(op)                                                                         \
  template <class A, class B, class V = __bare_t<A>>                                              \
    requires(__is_vec<A> && (__is_vec<B> ? __count<A> == __count<B> : __scalar_like<B>))           \
  __ASSAY_FN constexpr V operator op(const A& a, const B& b) {                                    \
    return V::__from(V(a).__v op (V(b).__v & (__element<V>)(sizeof(__element<V>) * 8 - 1)));      \
  }                                                                                               \
  template <class T, int N, class B>                                                              \
  __ASSAY_FN constexpr vec<T, N>& operator op##=(vec<T, N>& a, const B& b) {                      \
    return a = a op b;                                                                            \
  }
__ASSAY_SHIFT(<<)
__ASSAY_SHIFT(>>)
#undef __ASSAY_SHIFT

#define __ASSAY_COMPARE(op)                                                                       \
  template <class A, class B, class V = __common_vec_t<A, B>>                                     \
  __ASSAY_FN constexpr __bools<V> operator op(const A& a, const B& b) {                           \
    return __mask<__count<V>>(V(a).__v op V(b).__v);                                              \
  }
__ASSAY_COMPARE(==)
__ASSAY_COMPARE(!=)
__ASSAY_COMPARE(<)
__ASSAY_COMPARE(<=)
__ASSAY_COMPARE(>)
__ASSAY_COMPARE(>=)
#undef __ASSAY_COMPARE

template <int N, class A>
__ASSAY_FN constexpr vec<bool, N> __truth(const A& a) {
  if constexpr (__is_vec<A> && !__is_same(__element<A>, bool)) {
    return __mask<N>(a.__v != (decltype(a.__v))(0));
  } else {
    return vec<bool, N>(a);
  }
}
#define __ASSAY_LOGIC(op, bits)                                                                   \
  template <class A, class B, int N = (__count<A> > __count<B> ? __count<A> : __count<B>)>        \
    requires((__is_vec<A> || __is_vec<B>) && __piece<A> && __piece<B>)                            \
  __ASSAY_FN constexpr vec<bool, N> operator op(const A& a, const B& b) {                         \
    return vec<bool, N>::__from(__truth<N>(a).__v bits __truth<N>(b).__v);                        \
  }
__ASSAY_LOGIC(&&, &)
__ASSAY_LOGIC(||, |)
#undef __ASSAY_LOGIC

template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator+(vec<T, N> a) { return a; }
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator-(vec<T, N> a) { return vec<T, N>::__from(-a.__v); }
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator~(vec<T, N> a) { return vec<T, N>::__from(~a.__v); }
template <class T, int N>
__ASSAY_FN constexpr vec<bool, N> operator!(vec<T, N> a) {
  return __mask<N>(a.__v == (__native<T, N>)(0));
}
template <class T, int N>
__ASSAY_FN constexpr vec<T, N>& operator++(vec<T, N>& a) { return a += T(1); }
template <class T, int N>
__ASSAY_FN constexpr vec<T, N>& operator--(vec<T, N>& a) { return a -= T(1); }
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator++(vec<T, N>& a, int) { vec<T, N> old = a; a += T(1); return old; }
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator--(vec<T, N>& a, int) { vec<T, N> old = a; a -= T(1); return old; }
}  // namespace metal
