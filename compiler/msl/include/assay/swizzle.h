// Swizzles as properties: `v.zyx` calls `__get_zyx`, an assignment to it calls `__put_zyx`.
// Included inside the body of vec<T, N>, or of packed_vec<T, N> with __ASSAY_PACKED defined;
// __ASSAY_LETTERS is 2, 3 or 4.
#define __ASSAY_I_x 0
#define __ASSAY_I_y 1
#define __ASSAY_I_z 2
#define __ASSAY_I_w 3
#define __ASSAY_C_x r
#define __ASSAY_C_y g
#define __ASSAY_C_z b
#define __ASSAY_C_w a
#define __ASSAY_I(l) __ASSAY_I_##l
#define __ASSAY_C(l) __ASSAY_C_##l
#define __ASSAY_JOIN2(a, b) a##b
#define __ASSAY_JOIN3(a, b, c) a##b##c
#define __ASSAY_JOIN4(a, b, c, d) a##b##c##d
#define __ASSAY_NAME2(a, b) __ASSAY_JOIN2(a, b)
#define __ASSAY_NAME3(a, b, c) __ASSAY_JOIN3(a, b, c)
#define __ASSAY_NAME4(a, b, c, d) __ASSAY_JOIN4(a, b, c, d)

#ifdef __ASSAY_PACKED
#define __ASSAY_TAKE2(a, b) __native<T, 2>{__e[__ASSAY_I(a)], __e[__ASSAY_I(b)]}
#define __ASSAY_TAKE3(a, b, c) __native<T, 3>{__e[__ASSAY_I(a)], __e[__ASSAY_I(b)], __e[__ASSAY_I(c)]}
#define __ASSAY_TAKE4(a, b, c, d)                                                                 \
  __native<T, 4>{__e[__ASSAY_I(a)], __e[__ASSAY_I(b)], __e[__ASSAY_I(c)], __e[__ASSAY_I(d)]}
#else
#define __ASSAY_TAKE2(a, b) __builtin_shufflevector(__v, __v, __ASSAY_I(a), __ASSAY_I(b))
#define __ASSAY_TAKE3(a, b, c)                                                                    \
  __builtin_shufflevector(__v, __v, __ASSAY_I(a), __ASSAY_I(b), __ASSAY_I(c))
#define __ASSAY_TAKE4(a, b, c, d)                                                                 \
  __builtin_shufflevector(__v, __v, __ASSAY_I(a), __ASSAY_I(b), __ASSAY_I(c), __ASSAY_I(d))
#endif

#define __ASSAY_SWIZZLE2(a, b)                                                                    \
  __ASSAY_MEMBER constexpr vec<T, 2> __get_##a##b() const {                                       \
    return vec<T, 2>::__from(__ASSAY_TAKE2(a, b));                                                \
  }                                                                                               \
  __ASSAY_MEMBER void __put_##a##b(vec<T, 2> o) {                                                 \
    static_assert(__ASSAY_I(a) != __ASSAY_I(b), "a swizzle that repeats a component is read-only"); \
    __e[__ASSAY_I(a)] = o.__e[0];                                                                 \
    __e[__ASSAY_I(b)] = o.__e[1];                                                                 \
  }                                                                                               \
  __declspec(property(get = __get_##a##b, put = __put_##a##b)) vec<T, 2> a##b;                    \
  __declspec(property(get = __get_##a##b, put = __put_##a##b))                                    \
      vec<T, 2> __ASSAY_NAME2(__ASSAY_C(a), __ASSAY_C(b));

#define __ASSAY_SWIZZLE3(a, b, c)                                                                 \
  __ASSAY_MEMBER constexpr vec<T, 3> __get_##a##b##c() const {                                    \
    return vec<T, 3>::__from(__ASSAY_TAKE3(a, b, c));                                             \
  }                                                                                               \
  __ASSAY_MEMBER void __put_##a##b##c(vec<T, 3> o) {                                              \
    static_assert(((1 << __ASSAY_I(a)) | (1 << __ASSAY_I(b)) | (1 << __ASSAY_I(c))) ==            \
                      (1 << __ASSAY_I(a)) + (1 << __ASSAY_I(b)) + (1 << __ASSAY_I(c)),            \
                  "a swizzle that repeats a component is read-only");                            \
    __e[__ASSAY_I(a)] = o.__e[0];                                                                 \
    __e[__ASSAY_I(b)] = o.__e[1];                                                                 \
    __e[__ASSAY_I(c)] = o.__e[2];                                                                 \
  }                                                                                               \
  __declspec(property(get = __get_##a##b##c, put = __put_##a##b##c)) vec<T, 3> a##b##c;           \
  __declspec(property(get = __get_##a##b##c, put = __put_##a##b##c))                              \
      vec<T, 3> __ASSAY_NAME3(__ASSAY_C(a), __ASSAY_C(b), __ASSAY_C(c));

#define __ASSAY_SWIZZLE4(a, b, c, d)                                                              \
  __ASSAY_MEMBER constexpr vec<T, 4> __get_##a##b##c##d() const {                                 \
    return vec<T, 4>::__from(__ASSAY_TAKE4(a, b, c, d));                                          \
  }                                                                                               \
  __ASSAY_MEMBER void __put_##a##b##c##d(vec<T, 4> o) {                                           \
    static_assert(((1 << __ASSAY_I(a)) | (1 << __ASSAY_I(b)) | (1 << __ASSAY_I(c)) |              \
                   (1 << __ASSAY_I(d))) == 15,                                                    \
                  "a swizzle that repeats a component is read-only");                            \
    __e[__ASSAY_I(a)] = o.__e[0];                                                                 \
    __e[__ASSAY_I(b)] = o.__e[1];                                                                 \
    __e[__ASSAY_I(c)] = o.__e[2];                                                                 \
    __e[__ASSAY_I(d)] = o.__e[3];                                                                 \
  }                                                                                               \
  __declspec(property(get = __get_##a##b##c##d, put = __put_##a##b##c##d)) vec<T, 4> a##b##c##d;  \
  __declspec(property(get = __get_##a##b##c##d, put = __put_##a##b##c##d))                        \
      vec<T, 4> __ASSAY_NAME4(__ASSAY_C(a), __ASSAY_C(b), __ASSAY_C(c), __ASSAY_C(d));

#if __ASSAY_LETTERS == 2
#define __ASSAY_LAST2(a) __ASSAY_SWIZZLE2(a, x) __ASSAY_SWIZZLE2(a, y)
#define __ASSAY_LAST3(a, b) __ASSAY_SWIZZLE3(a, b, x) __ASSAY_SWIZZLE3(a, b, y)
#define __ASSAY_LAST4(a, b, c) __ASSAY_SWIZZLE4(a, b, c, x) __ASSAY_SWIZZLE4(a, b, c, y)
#define __ASSAY_MID3(a) __ASSAY_LAST3(a, x) __ASSAY_LAST3(a, y)
#define __ASSAY_MID4(a, b) __ASSAY_LAST4(a, b, x) __ASSAY_LAST4(a, b, y)
#define __ASSAY_TOP4(a) __ASSAY_MID4(a, x) __ASSAY_MID4(a, y)
#define __ASSAY_ALL(f) f(x) f(y)
#elif __ASSAY_LETTERS == 3
#define __ASSAY_LAST2(a) __ASSAY_SWIZZLE2(a, x) __ASSAY_SWIZZLE2(a, y) __ASSAY_SWIZZLE2(a, z)
#define __ASSAY_LAST3(a, b)                                                                       \
  __ASSAY_SWIZZLE3(a, b, x) __ASSAY_SWIZZLE3(a, b, y) __ASSAY_SWIZZLE3(a, b, z)
#define __ASSAY_LAST4(a, b, c)                                                                    \
  __ASSAY_SWIZZLE4(a, b, c, x) __ASSAY_SWIZZLE4(a, b, c, y) __ASSAY_SWIZZLE4(a, b, c, z)
#define __ASSAY_MID3(a) __ASSAY_LAST3(a, x) __ASSAY_LAST3(a, y) __ASSAY_LAST3(a, z)
#define __ASSAY_MID4(a, b) __ASSAY_LAST4(a, b, x) __ASSAY_LAST4(a, b, y) __ASSAY_LAST4(a, b, z)
#define __ASSAY_TOP4(a) __ASSAY_MID4(a, x) __ASSAY_MID4(a, y) __ASSAY_MID4(a, z)
#define __ASSAY_ALL(f) f(x) f(y) f(z)
#else
#define __ASSAY_LAST2(a)                                                                          \
  __ASSAY_SWIZZLE2(a, x) __ASSAY_SWIZZLE2(a, y) __ASSAY_SWIZZLE2(a, z) __ASSAY_SWIZZLE2(a, w)
#define __ASSAY_LAST3(a, b)                                                                       \
  __ASSAY_SWIZZLE3(a, b, x) __ASSAY_SWIZZLE3(a, b, y) __ASSAY_SWIZZLE3(a, b, z)                   \
      __ASSAY_SWIZZLE3(a, b, w)
#define __ASSAY_LAST4(a, b, c)                                                                    \
  __ASSAY_SWIZZLE4(a, b, c, x) __ASSAY_SWIZZLE4(a, b, c, y) __ASSAY_SWIZZLE4(a, b, c, z)          \
      __ASSAY_SWIZZLE4(a, b, c, w)
#define __ASSAY_MID3(a)                                                                           \
  __ASSAY_LAST3(a, x) __ASSAY_LAST3(a, y) __ASSAY_LAST3(a, z) __ASSAY_LAST3(a, w)
#define __ASSAY_MID4(a, b)                                                                        \
  __ASSAY_LAST4(a, b, x) __ASSAY_LAST4(a, b, y) __ASSAY_LAST4(a, b, z) __ASSAY_LAST4(a, b, w)
#define __ASSAY_TOP4(a)                                                                           \
  __ASSAY_MID4(a, x) __ASSAY_MID4(a, y) __ASSAY_MID4(a, z) __ASSAY_MID4(a, w)
#define __ASSAY_ALL(f) f(x) f(y) f(z) f(w)
#endif

__ASSAY_ALL(__ASSAY_LAST2)
__ASSAY_ALL(__ASSAY_MID3)
__ASSAY_ALL(__ASSAY_TOP4)

#undef __ASSAY_ALL
#undef __ASSAY_TOP4
#undef __ASSAY_MID4
#undef __ASSAY_MID3
#undef __ASSAY_LAST4
#undef __ASSAY_LAST3
#undef __ASSAY_LAST2
#undef __ASSAY_SWIZZLE4
#undef __ASSAY_TAKE4
#undef __ASSAY_TAKE3
#undef __ASSAY_TAKE2
#undef __ASSAY_SWIZZLE3
#undef __ASSAY_SWIZZLE2
#undef __ASSAY_NAME4
#undef __ASSAY_NAME3
#undef __ASSAY_NAME2
#undef __ASSAY_JOIN4
#undef __ASSAY_JOIN3
#undef __ASSAY_JOIN2
#undef __ASSAY_C
#undef __ASSAY_I
#undef __ASSAY_C_w
#undef __ASSAY_C_z
#undef __ASSAY_C_y
#undef __ASSAY_C_x
#undef __ASSAY_I_w
#undef __ASSAY_I_z
#undef __ASSAY_I_y
#undef __ASSAY_I_x
#undef __ASSAY_LETTERS
