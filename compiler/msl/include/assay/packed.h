// Packed vectors: the elements one after another, aligned as one element.
#pragma once
#include "vector_operators.h"

namespace metal {
#define __ASSAY_PACKED_MEMBERS(N)                                                                 \
  constexpr packed_vec() = default;                                                               \
  __ASSAY_MEMBER constexpr packed_vec(vec<T, N> v) { *this = v; }                                 \
  template <__scalar_like A>                                                                      \
  __ASSAY_MEMBER constexpr packed_vec(A a) { *this = vec<T, N>(a); }                              \
  template <__piece A, __piece B, __piece... C>                                                   \
    requires(__count<A> + __count<B> + (0 + ... + __count<C>) == N)                               \
  __ASSAY_MEMBER constexpr packed_vec(const A& a, const B& b, const C&... c) {                    \
    *this = vec<T, N>(a, b, c...);                                                                \
  }                                                                                               \
  template <class U>                                                                              \
    requires(!__is_same(U, T))                                                                    \
  __ASSAY_MEMBER explicit constexpr packed_vec(vec<U, N> v) { *this = vec<T, N>(v); }             \
  template <class S>                                                                              \
  __ASSAY_MEMBER constexpr auto& operator[](this S&& self, size_t i) { return self.__e[i]; }      \
  template <int... I> __ASSAY_MEMBER constexpr vec<T, sizeof...(I)> __take() const {              \
    return vec<T, sizeof...(I)>::__from(__native<T, sizeof...(I)>{__e[I]...});                    \
  }                                                                                               \
  template <int... I> __ASSAY_MEMBER void __give(vec<T, sizeof...(I)> o) {                        \
    int i = 0;                                                                                    \
    ((__e[I] = o.__e[i++]), ...);                                                                 \
  }

template <class T, int N> struct __shape<packed_vec<T, N>> {
  using element = T;
  static constexpr int count = N;
  static constexpr bool vector = false;
};

template <class T>
struct packed_vec<T, 2> : __swizzles2<packed_vec<T, 2>, T> {
  union { T __e[2]; struct { T x, y; }; struct { T r, g; }; };
  __ASSAY_PACKED_MEMBERS(2)
  __ASSAY_MEMBER constexpr operator vec<T, 2>() const { return vec<T, 2>(__e[0], __e[1]); }
  __ASSAY_MEMBER constexpr packed_vec& operator=(vec<T, 2> v) {
    __e[0] = v.__v[0]; __e[1] = v.__v[1];
    return *this;
  }
};
template <class T>
struct packed_vec<T, 3> : __swizzles3<packed_vec<T, 3>, T> {
  union { T __e[3]; struct { T x, y, z; }; struct { T r, g, b; }; };
  __ASSAY_PACKED_MEMBERS(3)
  __ASSAY_MEMBER constexpr operator vec<T, 3>() const { return vec<T, 3>(__e[0], __e[1], __e[2]); }
  __ASSAY_MEMBER constexpr packed_vec& operator=(vec<T, 3> v) {
    __e[0] = v.__v[0]; __e[1] = v.__v[1]; __e[2] = v.__v[2];
    return *this;
  }
};
template <class T>
struct packed_vec<T, 4> : __swizzles4<packed_vec<T, 4>, T> {
  union { T __e[4]; struct { T x, y, z, w; }; struct { T r, g, b, a; }; };
  __ASSAY_PACKED_MEMBERS(4)
  __ASSAY_MEMBER constexpr operator vec<T, 4>() const {
    return vec<T, 4>(__e[0], __e[1], __e[2], __e[3]);
  }
  __ASSAY_MEMBER constexpr packed_vec& operator=(vec<T, 4> v) {
    __e[0] = v.__v[0]; __e[1] = v.__v[1]; __e[2] = v.__v[2]; __e[3] = v.__v[3];
    return *this;
  }
};
#undef __ASSAY_PACKED_MEMBERS

template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator+(const packed_vec<T, N>& a) { return vec<T, N>(a); }
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> operator-(const packed_vec<T, N>& a) { return -vec<T, N>(a); }

inline namespace __ASSAY_FUSED {
#define __ASSAY_ARITHMETIC(op)                                                                    \
  template <class T, int N, class B, class = __common_vec_t<vec<T, N>, B>>                        \
  __ASSAY_FN constexpr packed_vec<T, N>& operator op##=(packed_vec<T, N>& a, const B& b) {        \
    return a = vec<T, N>::__from(vec<T, N>(a).__v op vec<T, N>(b).__v);                           \
  }
__ASSAY_ARITHMETIC(+)
__ASSAY_ARITHMETIC(-)
__ASSAY_ARITHMETIC(*)
__ASSAY_ARITHMETIC(/)
#undef __ASSAY_ARITHMETIC
}  // namespace __ASSAY_FUSED

}  // namespace metal
