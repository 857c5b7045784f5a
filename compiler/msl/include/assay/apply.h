// Functions of numbers become functions of vectors, lane by lane, with MSL's mixing of the two.
#pragma once
#include "vector_operators.h"

namespace metal {
// The type that a function of arguments A... works in: the vector among them, or the scalar that
// all of them convert to.
template <class A> struct __scalar_of {};
template <class A> requires (!__is_class(A) || __is_vec<A>)
struct __scalar_of<A> { using type = A; };
template <__numeric_class A>
struct __scalar_of<A> { using type = __bare_t<decltype(+declval<const A&>())>; };

template <class A, class B> struct __joined2 {
  using type = __bare_t<decltype(A(0) + B(0))>;
};
template <class A> struct __joined2<A, A> { using type = A; };
template <> struct __joined2<half, bfloat> { using type = float; };
template <> struct __joined2<bfloat, half> { using type = float; };
template <class T, int N> struct __joined2<vec<T, N>, vec<T, N>> { using type = vec<T, N>; };
template <class T, int N, class B> requires (!__is_vec<B>)
struct __joined2<vec<T, N>, B> { using type = vec<T, N>; };
template <class T, int N, class A> requires (!__is_vec<A>)
struct __joined2<A, vec<T, N>> { using type = vec<T, N>; };
template <class T, class U, int N> struct __joined2<vec<T, N>, vec<U, N>> {};

template <class... A> struct __joined;
template <class A> struct __joined<A> { using type = A; };
template <class A, class B, class... C> struct __joined<A, B, C...>
    : __joined<typename __joined2<A, B>::type, C...> {};

template <class... A>
using __joined_t = typename __joined<typename __scalar_of<__unpacked_t<A>>::type...>::type;

template <class T, class E> struct __with_element { using type = E; };
template <class T, int N, class E> struct __with_element<vec<T, N>, E> { using type = vec<E, N>; };
template <class T, class E> using __with_element_t = typename __with_element<T, E>::type;

template <class T> constexpr bool __is_real = __is_floating_point(T) || __is_same(T, half) || __is_same(T, bfloat);
// The same, in floating point: integers become float.
template <class T> using __real_of = conditional_t<__is_real<__element<T>>, T, __with_element_t<T, float>>;
// What functions work in: there is none of a bfloat, which converts to float, and nothing back.
template <class T> using __wider = conditional_t<__is_same(T, bfloat), float, T>;
template <class... A> using __number_t = __wider<__joined_t<A...>>;
template <class... A> using __real_t = __wider<__real_of<__joined_t<A...>>>;

template <class... A> concept __numeric = (__piece<A> && ...);
template <class... A> constexpr bool __are_scalars = !(__is_class(A) || ...);

template <class E, int I, class A>
__ASSAY_FN constexpr E __lane(const A& a) {
  if constexpr (__is_vec<A>) {
    return __convert<E>((__element<A>)a.__v[I]);
  } else if constexpr (__is_packed<A>) {
    return __convert<E>(a.__e[I]);
  } else {
    return __convert<E>(a);
  }
}

// A vector from its lanes.
template <class E, class... L>
__ASSAY_FN constexpr auto __gather(L... lanes) {
  return vec<E, sizeof...(L)>::__from(__native<E, sizeof...(L)>{lanes...});
}

// F of each lane; R gives the lane type of the arguments, the result has whatever F returns.
template <class R, class F, class... A>
__ASSAY_FN constexpr auto __apply(F, const A&... a) {
  using E = __element<R>;
  if constexpr (!__is_vec<R>) {
    return F::call(__lane<E, 0>(a)...);
  } else {
    using O = decltype(F::call(__lane<E, 0>(a)...));
    if constexpr (__count<R> == 2) {
      return __gather<O>(F::call(__lane<E, 0>(a)...), F::call(__lane<E, 1>(a)...));
    } else if constexpr (__count<R> == 3) {
      return __gather<O>(F::call(__lane<E, 0>(a)...), F::call(__lane<E, 1>(a)...),
                         F::call(__lane<E, 2>(a)...));
    } else {
      return __gather<O>(F::call(__lane<E, 0>(a)...), F::call(__lane<E, 1>(a)...),
                         F::call(__lane<E, 2>(a)...), F::call(__lane<E, 3>(a)...));
    }
  }
}
}  // namespace metal

// Defines function `name` of one, two or three numbers; the body sees x, y, z of type T.
#define __ASSAY_MAP1(type_of, name, ...)                                                          \
  struct __op_##name {                                                                            \
    template <class T> __ASSAY_MEMBER static constexpr auto call(T x) { __VA_ARGS__ }             \
  };                                                                                              \
  __ASSAY_LIFT1(type_of, name)
#define __ASSAY_MAP2(type_of, name, ...)                                                          \
  struct __op_##name {                                                                            \
    template <class T> __ASSAY_MEMBER static constexpr auto call(T x, T y) { __VA_ARGS__ }        \
  };                                                                                              \
  __ASSAY_LIFT2(type_of, name)
// What is computed of scalars in `__op_name::call`, of vectors as well.
#define __ASSAY_LIFT1(type_of, name)                                                              \
  template <class A> requires __numeric<A>                                                        \
  __ASSAY_FN constexpr auto name(const A& a) { return __apply<type_of<A>>(__op_##name{}, a); }
// Scalars of two types convert to one in Apple's functions, which templates of programs then go
// before: one with an empty pack behind is less special than any without.
#define __ASSAY_LIFT2(type_of, name)                                                              \
  template <class A, class B> requires (__numeric<A, B> && !__are_scalars<A, B>)                  \
  __ASSAY_FN constexpr auto name(const A& a, const B& b) {                                        \
    return __apply<type_of<A, B>>(__op_##name{}, a, b);                                           \
  }                                                                                               \
  template <class A, class B, class... None>                                                      \
  requires (__numeric<A, B> && __are_scalars<A, B> && sizeof...(None) == 0)                       \
  __ASSAY_FN constexpr auto name(const A& a, const B& b, None...) {                               \
    return __apply<type_of<A, B>>(__op_##name{}, a, b);                                           \
  }
#define __ASSAY_MAP3(type_of, name, ...)                                                          \
  struct __op_##name {                                                                            \
    template <class T> __ASSAY_MEMBER static constexpr auto call(T x, T y, T z) { __VA_ARGS__ }          \
  };                                                                                              \
  template <class A, class B, class C> requires __numeric<A, B, C>                                \
  __ASSAY_FN constexpr auto name(const A& a, const B& b, const C& c) {                            \
    return __apply<type_of<A, B, C>>(__op_##name{}, a, b, c);                                     \
  }
