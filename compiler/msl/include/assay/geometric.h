// Functions of vectors as a whole.
#pragma once
#include "relational.h"

namespace metal {
template <class T> using __float_element = enable_if_t<__is_real<__element<T>>, __element<T>>;

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
template <class T>
__ASSAY_FN constexpr vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
  return vec<T, 3>(a.__v[1] * b.__v[2] - a.__v[2] * b.__v[1],
                   a.__v[2] * b.__v[0] - a.__v[0] * b.__v[2],
                   a.__v[0] * b.__v[1] - a.__v[1] * b.__v[0]);
}
template <class T, int N> __ASSAY_FN constexpr T length_squared(vec<T, N> a) { return dot(a, a); }
template <class T, int N> __ASSAY_FN constexpr T length(vec<T, N> a) { return sqrt(dot(a, a)); }
template <class T, int N> __ASSAY_FN constexpr T distance_squared(vec<T, N> a, vec<T, N> b) {
  return length_squared(a - b);
}
template <class T, int N> __ASSAY_FN constexpr T distance(vec<T, N> a, vec<T, N> b) {
  return length(a - b);
}
template <class T, int N> __ASSAY_FN constexpr vec<T, N> normalize(vec<T, N> a) {
  return a * rsqrt(dot(a, a));
}
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> faceforward(vec<T, N> n, vec<T, N> incident, vec<T, N> reference) {
  return dot(reference, incident) < T(0.0f) ? n : -n;
}
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> reflect(vec<T, N> incident, vec<T, N> n) {
  return incident - n * (T(2.0f) * dot(n, incident));
}
template <class T, int N>
__ASSAY_FN constexpr vec<T, N> refract(vec<T, N> incident, vec<T, N> n, T eta) {
  T cosine = dot(n, incident);
  T k = T(1.0f) - eta * eta * (T(1.0f) - cosine * cosine);
  return k < T(0.0f) ? vec<T, N>(T(0.0f)) : incident * eta - n * (eta * cosine + sqrt(k));
}
}  // namespace metal
