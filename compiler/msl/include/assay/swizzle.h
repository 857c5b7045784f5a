// Swizzles as properties: `v.zyx` calls `__get_zyx`, an assignment to it calls `__put_zyx`, which
// there is none of for words that repeat a component. A vector V inherits them from
// `__swizzlesN<V, T>`, which vec and packed_vec share, and does the work in `__take` and `__give`.
// These words are most of what compiling the headers takes: each is made once, with a short body.
#pragma once
#include "base.h"

namespace metal {
template <class T, int N> struct vec;

#define __ASSAY_I_x 0
#define __ASSAY_I_y 1
#define __ASSAY_I_z 2
#define __ASSAY_I_w 3
#define __ASSAY_C_x r
#define __ASSAY_C_y g
#define __ASSAY_C_z b
#define __ASSAY_C_w a
#define __ASSAY_C(l) __ASSAY_C_##l
#define __ASSAY_JOIN2(a, b) a##b
#define __ASSAY_JOIN3(a, b, c) a##b##c
#define __ASSAY_JOIN4(a, b, c, d) a##b##c##d
#define __ASSAY_NAME2(a, b) __ASSAY_JOIN2(a, b)
#define __ASSAY_NAME3(a, b, c) __ASSAY_JOIN3(a, b, c)
#define __ASSAY_NAME4(a, b, c, d) __ASSAY_JOIN4(a, b, c, d)

#define __ASSAY_GET(n, word, colours, ...)                                                        \
  __ASSAY_MEMBER constexpr vec<T, n> __get_##word() const {                                       \
    return static_cast<const V*>(this)->template __take<__VA_ARGS__>();                           \
  }                                                                                               \
  __declspec(property(get = __get_##word, put = __put_##word)) vec<T, n> word, colours;
#define __ASSAY_GET2(a, b)                                                                        \
  __ASSAY_GET(2, a##b, __ASSAY_NAME2(__ASSAY_C(a), __ASSAY_C(b)), __ASSAY_I_##a, __ASSAY_I_##b)
#define __ASSAY_GET3(a, b, c)                                                                     \
  __ASSAY_GET(3, a##b##c, __ASSAY_NAME3(__ASSAY_C(a), __ASSAY_C(b), __ASSAY_C(c)),                \
              __ASSAY_I_##a, __ASSAY_I_##b, __ASSAY_I_##c)
// Words of four, which are three in four of all, are there for programs that have one.
#ifdef __ASSAY_WORDS
#define __ASSAY_GET4(a, b, c, d)                                                                  \
  __ASSAY_GET(4, a##b##c##d,                                                                      \
              __ASSAY_NAME4(__ASSAY_C(a), __ASSAY_C(b), __ASSAY_C(c), __ASSAY_C(d)),              \
              __ASSAY_I_##a, __ASSAY_I_##b, __ASSAY_I_##c, __ASSAY_I_##d)
#else
#define __ASSAY_GET4(a, b, c, d)
#endif

#define __ASSAY_PUT(n, word, ...)                                                                 \
  __ASSAY_MEMBER void __put_##word(vec<T, n> o) {                                                 \
    static_cast<V*>(this)->template __give<__VA_ARGS__>(o);                                       \
  }
#define __ASSAY_PUT2(a, b) __ASSAY_PUT(2, a##b, __ASSAY_I_##a, __ASSAY_I_##b)
#define __ASSAY_PUT3(a, b, c) __ASSAY_PUT(3, a##b##c, __ASSAY_I_##a, __ASSAY_I_##b, __ASSAY_I_##c)
#ifdef __ASSAY_WORDS
#define __ASSAY_PUT4(a, b, c, d)                                                                  \
  __ASSAY_PUT(4, a##b##c##d, __ASSAY_I_##a, __ASSAY_I_##b, __ASSAY_I_##c, __ASSAY_I_##d)
#else
#define __ASSAY_PUT4(a, b, c, d)
#endif
// Components in all orders; those of four with the first in its place.
#define __ASSAY_ORDERS2(a, b) __ASSAY_PUT2(a, b) __ASSAY_PUT2(b, a)
#define __ASSAY_ORDERS3(a, b, c)                                                                  \
  __ASSAY_PUT3(a, b, c) __ASSAY_PUT3(a, c, b) __ASSAY_PUT3(b, a, c) __ASSAY_PUT3(b, c, a)         \
  __ASSAY_PUT3(c, a, b) __ASSAY_PUT3(c, b, a)
#define __ASSAY_BEHIND(a, b, c, d)                                                                \
  __ASSAY_PUT4(a, b, c, d) __ASSAY_PUT4(a, b, d, c) __ASSAY_PUT4(a, c, b, d)                      \
  __ASSAY_PUT4(a, c, d, b) __ASSAY_PUT4(a, d, b, c) __ASSAY_PUT4(a, d, c, b)

template <class V, class T> struct __swizzles2 {
#define __ASSAY_LETTERS 2
#include "swizzle_words.h"
  __ASSAY_ORDERS2(x, y)
};

template <class V, class T> struct __swizzles3 : __swizzles2<V, T> {
#define __ASSAY_LETTERS 3
#include "swizzle_words.h"
  __ASSAY_ORDERS2(x, z) __ASSAY_ORDERS2(y, z)
  __ASSAY_ORDERS3(x, y, z)
};

template <class V, class T> struct __swizzles4 : __swizzles3<V, T> {
#define __ASSAY_LETTERS 4
#include "swizzle_words.h"
  __ASSAY_ORDERS2(x, w) __ASSAY_ORDERS2(y, w) __ASSAY_ORDERS2(z, w)
  __ASSAY_ORDERS3(x, y, w) __ASSAY_ORDERS3(x, z, w) __ASSAY_ORDERS3(y, z, w)
  __ASSAY_BEHIND(x, y, z, w) __ASSAY_BEHIND(y, x, z, w)
  __ASSAY_BEHIND(z, x, y, w) __ASSAY_BEHIND(w, x, y, z)
};

#undef __ASSAY_BEHIND
#undef __ASSAY_ORDERS3
#undef __ASSAY_ORDERS2
#undef __ASSAY_PUT4
#undef __ASSAY_PUT3
#undef __ASSAY_PUT2
#undef __ASSAY_PUT
#undef __ASSAY_GET4
#undef __ASSAY_GET3
#undef __ASSAY_GET2
#undef __ASSAY_GET
#undef __ASSAY_NAME4
#undef __ASSAY_NAME3
#undef __ASSAY_NAME2
#undef __ASSAY_JOIN4
#undef __ASSAY_JOIN3
#undef __ASSAY_JOIN2
#undef __ASSAY_C
#undef __ASSAY_C_w
#undef __ASSAY_C_z
#undef __ASSAY_C_y
#undef __ASSAY_C_x
#undef __ASSAY_I_w
#undef __ASSAY_I_z
#undef __ASSAY_I_y
#undef __ASSAY_I_x
}  // namespace metal
