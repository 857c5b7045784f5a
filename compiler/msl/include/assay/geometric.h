// Functions of vectors as a whole.
#pragma once
#include "math_root.h"
#include "relational.h"

namespace metal {
template <class A, class B, class V = __real_of<__common_vec_t<A, B>>>
__ASSAY_FN constexpr __element<V> dot(const A& a, const B& b) {
  V p(V(a) * V(b));
  if constexpr (__count<V> == 2) {
    return p.__v[0] + p.__v[1];
  } else if constexpr (__count<V> == 3) {
    return p.__v[0] + p.__v[1] + p.__v[2];
  } else {
    return (p.__v[0] + p.__v[1]) + (p.__v[2] + p.__v[3]);
  }
}
template <class A, class B, class V = __real_of<__common_vec_t<A, B>>> requires(__count<V> == 3)
__ASSAY_FN constexpr V cross(const A& left, const B& right) {
  // The library's own expression is contracted, also where a program's may not be.
  using T = __element<V>;
  V a(left), b(right);
  return V(__builtin_elementwise_fma(T(a.__v[1]), T(b.__v[2]), T(-(a.__v[2] * b.__v[1]))),
           __builtin_elementwise_fma(T(a.__v[2]), T(b.__v[0]), T(-(a.__v[0] * b.__v[2]))),
           __builtin_elementwise_fma(T(a.__v[0]), T(b.__v[1]), T(-(a.__v[1] * b.__v[0]))));
}
// The vector that an argument is or converts to.
template <class A> using __vector_of = __real_of<__common_vec_t<A, A>>;
template <class A, class V = __vector_of<A>>
__ASSAY_FN constexpr __element<V> length_squared(const A& a) { return dot(a, a); }
template <class A, class V = __vector_of<A>>
__ASSAY_FN constexpr __element<V> length(const A& a) { return sqrt(dot(a, a)); }
template <class A, class B, class V = __real_of<__common_vec_t<A, B>>>
__ASSAY_FN constexpr __element<V> distance_squared(const A& a, const B& b) {
  return length_squared(V(a) - V(b));
}
template <class A, class B, class V = __real_of<__common_vec_t<A, B>>>
__ASSAY_FN constexpr __element<V> distance(const A& a, const B& b) {
  return length(V(a) - V(b));
}
template <class A, class V = __vector_of<A>>
__ASSAY_FN constexpr V normalize(const A& a) { return V(a) * rsqrt(dot(a, a)); }
template <class A, class B, class C, class V = __vector_of<A>>
__ASSAY_FN constexpr V faceforward(const A& n, const B& incident, const C& reference) {
  return dot(reference, incident) < __element<V>(0.0f) ? V(n) : -V(n);
}
template <class A, class B, class V = __real_of<__common_vec_t<A, B>>>
__ASSAY_FN constexpr V reflect(const A& incident, const B& n) {
  return V(incident) - V(n) * (__element<V>(2.0f) * dot(n, incident));
}
template <class A, class B, class V = __real_of<__common_vec_t<A, B>>>
__ASSAY_FN constexpr V refract(const A& incident, const B& n, __element<V> eta) {
  using T = __element<V>;
  T cosine = dot(n, incident);
  T k = T(1.0f) - eta * eta * (T(1.0f) - cosine * cosine);
  return k < T(0.0f) ? V(T(0.0f)) : V(incident) * eta - V(n) * (eta * cosine + sqrt(k));
}
}  // namespace metal
