// vec<T, N>: a class around a vector of clang, so that loads are native and every constructor,
// conversion and swizzle of MSL exists.
#pragma once
#include "swizzle.h"
#include "traits.h"

namespace metal {
// A vector of bool is stored as bytes of 0 and 1.
template <class T> struct __stored { using type = T; };
template <> struct __stored<bool> { using type = unsigned char; };
template <class T, int N>
using __native = typename __stored<T>::type __attribute__((ext_vector_type(N)));

template <class T> struct __shape { using element = T; static constexpr int count = 1; static constexpr bool vector = false; };
template <class T, int N> struct __shape<vec<T, N>> { using element = T; static constexpr int count = N; static constexpr bool vector = true; };

template <class T> constexpr bool __is_vec = __shape<__bare_t<T>>::vector;
template <class T> constexpr int __count = __shape<__bare_t<T>>::count;
template <class T> using __element = typename __shape<__bare_t<T>>::element;

// Packed vectors take part in expressions as the vectors they convert to.
template <class T, int N> struct packed_vec;
template <class T> struct __unpacked { using type = T; };
template <class T, int N> struct __unpacked<packed_vec<T, N>> { using type = vec<T, N>; };
template <class T> using __unpacked_t = typename __unpacked<__bare_t<T>>::type;
template <class T> constexpr bool __is_packed = !__is_same(__unpacked_t<T>, __bare_t<T>);

// What a vector may be built from: a number, or a class that converts to one.
template <class T> concept __number = __is_arithmetic(__bare_t<T>);
template <class T> concept __numeric_class = __is_class(__bare_t<T>) && !__is_vec<T> && !__is_packed<T> && requires(const __bare_t<T>& v) { +v; };
template <class T> concept __scalar_like = __number<T> || __numeric_class<T> || __is_enum(__bare_t<T>);
template <class T> concept __piece = __scalar_like<T> || __is_vec<T> || __is_packed<T>;

template <class To, class From>
__ASSAY_FN constexpr To __convert(From value) {
  using B = __bare_t<From>;
  if constexpr ((__is_same(To, half) && __is_same(B, bfloat)) || (__is_same(To, bfloat) && __is_same(B, half))) {
    return (To)(float)value;
  } else {
    return (To)value;
  }
}

// Scalar number I of the arguments laid end to end.
template <int I, class A, class... B>
__ASSAY_FN constexpr auto __pick(const A& first, const B&... rest) {
  if constexpr (I < __count<A>) {
    if constexpr (__is_vec<A>) {
      return (__element<A>)first.__v[I];
    } else if constexpr (__is_packed<A>) {
      return first.__e[I];
    } else {
      return first;
    }
  } else {
    return __pick<I - __count<A>>(rest...);
  }
}

template <class T, int N, class... A>
__ASSAY_FN constexpr __native<T, N> __assemble(const A&... a) {
  if constexpr (N == 2) {
    return __native<T, N>{__convert<T>(__pick<0>(a...)), __convert<T>(__pick<1>(a...))};
  } else if constexpr (N == 3) {
    return __native<T, N>{__convert<T>(__pick<0>(a...)), __convert<T>(__pick<1>(a...)),
                          __convert<T>(__pick<2>(a...))};
  } else if constexpr (N == 4) {
    return __native<T, N>{__convert<T>(__pick<0>(a...)), __convert<T>(__pick<1>(a...)),
                          __convert<T>(__pick<2>(a...)), __convert<T>(__pick<3>(a...))};
  } else {
    return __native<T, N>{__convert<T>(__pick<0>(a...)), __convert<T>(__pick<1>(a...)),
                          __convert<T>(__pick<2>(a...)), __convert<T>(__pick<3>(a...)),
                          __convert<T>(__pick<4>(a...)), __convert<T>(__pick<5>(a...)),
                          __convert<T>(__pick<6>(a...)), __convert<T>(__pick<7>(a...))};
  }
}

// Vector conversion; of bfloat to and from half through float, to bool by comparison with zero.
template <class T, class U, int N>
__ASSAY_FN constexpr __native<T, N> __convert_all(__native<U, N> v) {
  if constexpr (__is_same(T, bool) && !__is_same(U, bool)) {
    return __builtin_convertvector(v != (__native<U, N>)(0), __native<bool, N>) & (unsigned char)1;
  } else if constexpr ((__is_same(T, half) && __is_same(U, bfloat)) || (__is_same(T, bfloat) && __is_same(U, half))) {
    return __builtin_convertvector(__builtin_convertvector(v, __native<float, N>), __native<T, N>);
  } else {
    return __builtin_convertvector(v, __native<T, N>);
  }
}

#define __ASSAY_VEC_MEMBERS(N)                                                                    \
  using __native_type = __native<T, N>;                                                           \
  constexpr vec() = default;                                                                      \
  struct __native_tag {};                                                                         \
  __ASSAY_MEMBER constexpr vec(__native_tag, __native_type v) : __v(v) {}                         \
  __ASSAY_MEMBER static constexpr vec __from(__native_type v) { return vec(__native_tag{}, v); }  \
  template <__scalar_like A>                                                                      \
  __ASSAY_MEMBER constexpr vec(A a) : __v((__native_type)((typename __stored<T>::type)__convert<T>(a))) {} \
  template <__piece A, __piece B, __piece... C>                                                   \
    requires(__count<A> + __count<B> + (0 + ... + __count<C>) == N)                               \
  __ASSAY_MEMBER constexpr vec(const A& a, const B& b, const C&... c)                             \
      : __v(__assemble<T, N>(a, b, c...)) {}                                                      \
  template <class U>                                                                              \
    requires(!__is_same(U, T))                                                                    \
  __ASSAY_MEMBER explicit constexpr vec(vec<U, N> o) : __v(__convert_all<T, U, N>(o.__v)) {}      \
  template <class U>                                                                              \
    requires(!__is_same(U, T))                                                                    \
  __ASSAY_MEMBER explicit constexpr vec(const packed_vec<U, N>& o) : vec(vec<U, N>(o)) {}         \
  /* As the braces of a vector of clang, where what is left out is zero. */                       \
  template <__scalar_like A, __scalar_like B, __scalar_like... C>                                 \
    requires(2 + sizeof...(C) < N)                                                                \
  __ASSAY_MEMBER constexpr vec(A a, B b, C... c)                                                  \
      : __v{__convert<T>(a), __convert<T>(b), __convert<T>(c)...} {}                              \
  /* Volatile vectors are read and written as a whole; templates, so that copies stay trivial. */  \
  template <class S> requires(__is_volatile(S) && __is_same(__bare_t<S>, vec))                    \
  __ASSAY_MEMBER constexpr vec(S& o) : __v((__native_type)o.__v) {}                               \
  template <class S> requires __is_volatile(S)                                                    \
  __ASSAY_MEMBER constexpr void operator=(this S& self, vec o) { self.__v = o.__v; }              \
  template <class S>                                                                              \
  __ASSAY_MEMBER constexpr auto& operator[](this S&& self, size_t i) { return self.__e[i]; }

// What swizzles are made of.
#define __ASSAY_SWIZZLED                                                                          \
  template <int... I> __ASSAY_MEMBER constexpr vec<T, sizeof...(I)> __take() const {              \
    return vec<T, sizeof...(I)>::__from(__builtin_shufflevector(__v, __v, I...));                 \
  }                                                                                               \
  template <int... I> __ASSAY_MEMBER void __give(vec<T, sizeof...(I)> o) {                        \
    int i = 0;                                                                                    \
    ((__e[I] = o.__e[i++]), ...);                                                                 \
  }

template <class T>
struct vec<T, 2> : __swizzles2<vec<T, 2>, T> {
  union {
    __native<T, 2> __v;
    T __e[2];
    struct { T x, y; };
    struct { T r, g; };
  };
  __ASSAY_VEC_MEMBERS(2)
  __ASSAY_SWIZZLED
};

template <class T>
struct vec<T, 3> : __swizzles3<vec<T, 3>, T> {
  union {
    __native<T, 3> __v;
    T __e[3];
    struct { T x, y, z; };
    struct { T r, g, b; };
  };
  __ASSAY_VEC_MEMBERS(3)
  __ASSAY_SWIZZLED
};

template <class T>
struct vec<T, 4> : __swizzles4<vec<T, 4>, T> {
  union {
    __native<T, 4> __v;
    T __e[4];
    struct { T x, y, z, w; };
    struct { T r, g, b, a; };
  };
  __ASSAY_VEC_MEMBERS(4)
  __ASSAY_SWIZZLED
};

// Vectors of eight, whose elements have no letters: what programs keep of a tensor's fragments.
template <class T>
struct vec<T, 8> {
  union {
    __native<T, 8> __v;
    T __e[8];
  };
  __ASSAY_VEC_MEMBERS(8)
};
#undef __ASSAY_SWIZZLED
#undef __ASSAY_VEC_MEMBERS

template <class T> struct vec_elements { static constexpr int value = __count<T>; };
template <class T> struct make_scalar { using type = __element<T>; };
template <class T> using make_scalar_t = __element<T>;
template <class T, int N> struct make_vector { using type = vec<T, N>; };
template <class T, int N> using make_vector_t = vec<T, N>;
}  // namespace metal
