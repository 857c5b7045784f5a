// matrix<T, Cols, Rows>: Cols columns, each a vector of Rows elements.
#pragma once
#include "vector_names.h"
#include "geometric.h"

namespace metal {
template <class T, int Cols, int Rows> struct matrix;
template <class T> struct __matrix_shape { static constexpr bool matrix = false; };
template <class T, int C, int R> struct __matrix_shape<matrix<T, C, R>> { static constexpr bool matrix = true; };
template <class T> constexpr bool __is_matrix = __matrix_shape<__bare_t<T>>::matrix;

template <class T, int Cols, int Rows>
struct matrix {
  vec<T, Rows> columns[Cols];

  constexpr matrix() = default;
  // A multiple of the identity.
  template <__scalar_like A>
  __ASSAY_MEMBER explicit constexpr matrix(A diagonal) : columns{} {
    for (int c = 0; c < Cols; ++c) {
      for (int r = 0; r < Rows; ++r) columns[c].__v[r] = c == r ? __convert<T>(diagonal) : T(0.0f);
    }
  }
  // Columns, or all elements column by column.
  template <class... A>
    requires(sizeof...(A) == Cols && Cols > 1 && (__is_vec<__unpacked_t<A>> && ...))
  __ASSAY_MEMBER constexpr matrix(const A&... a) : columns{vec<T, Rows>(a)...} {}
  template <__scalar_like... A>
    requires(sizeof...(A) == Cols * Rows)
  __ASSAY_MEMBER constexpr matrix(const A&... a) : columns{} {
    T all[] = {__convert<T>(a)...};
    for (int c = 0; c < Cols; ++c) {
      for (int r = 0; r < Rows; ++r) columns[c].__v[r] = all[c * Rows + r];
    }
  }
  template <class U>
    requires(!__is_same(U, T))
  __ASSAY_MEMBER explicit constexpr matrix(const matrix<U, Cols, Rows>& m) : columns{} {
    for (int c = 0; c < Cols; ++c) columns[c] = vec<T, Rows>(m.columns[c]);
  }
  template <class S>
  __ASSAY_MEMBER constexpr auto& operator[](this S&& self, size_t column) {
    return self.columns[column];
  }
};

#define __ASSAY_MATRIX template <class T, int C, int R>
__ASSAY_MATRIX __ASSAY_FN constexpr matrix<T, C, R> operator+(matrix<T, C, R> a, matrix<T, C, R> b) {
  for (int c = 0; c < C; ++c) a.columns[c] += b.columns[c];
  return a;
}
__ASSAY_MATRIX __ASSAY_FN constexpr matrix<T, C, R> operator-(matrix<T, C, R> a, matrix<T, C, R> b) {
  for (int c = 0; c < C; ++c) a.columns[c] -= b.columns[c];
  return a;
}
__ASSAY_MATRIX __ASSAY_FN constexpr matrix<T, C, R> operator-(matrix<T, C, R> a) {
  for (int c = 0; c < C; ++c) a.columns[c] = -a.columns[c];
  return a;
}
template <class T, int C, int R, __scalar_like S>
__ASSAY_FN constexpr matrix<T, C, R> operator*(matrix<T, C, R> a, S s) {
  for (int c = 0; c < C; ++c) a.columns[c] *= __convert<T>(s);
  return a;
}
template <class T, int C, int R, __scalar_like S>
__ASSAY_FN constexpr matrix<T, C, R> operator*(S s, matrix<T, C, R> a) { return a * s; }
template <class T, int C, int R, __scalar_like S>
__ASSAY_FN constexpr matrix<T, C, R> operator/(matrix<T, C, R> a, S s) {
  for (int c = 0; c < C; ++c) a.columns[c] /= __convert<T>(s);
  return a;
}
template <class T, int C, int R, class V> requires __is_same(__unpacked_t<V>, vec<T, C>)
__ASSAY_FN constexpr vec<T, R> operator*(const matrix<T, C, R>& a, const V& operand) {
  vec<T, C> v(operand);
  vec<T, R> sum = a.columns[0] * (T)v.__v[0];
  for (int c = 1; c < C; ++c) sum += a.columns[c] * (T)v.__v[c];
  return sum;
}
template <class T, int C, int R, class V> requires __is_same(__unpacked_t<V>, vec<T, R>)
__ASSAY_FN constexpr vec<T, C> operator*(const V& operand, const matrix<T, C, R>& a) {
  vec<T, R> v(operand);
  vec<T, C> result;
  for (int c = 0; c < C; ++c) result.__v[c] = dot(v, a.columns[c]);
  return result;
}
template <class T, int K, int R, int C>
__ASSAY_FN constexpr matrix<T, C, R> operator*(const matrix<T, K, R>& a, const matrix<T, C, K>& b) {
  matrix<T, C, R> result;
  for (int c = 0; c < C; ++c) result.columns[c] = a * b.columns[c];
  return result;
}
template <class M, class B> requires __is_matrix<M>
__ASSAY_FN constexpr M& operator+=(M& a, const B& b) { return a = a + b; }
template <class M, class B> requires __is_matrix<M>
__ASSAY_FN constexpr M& operator-=(M& a, const B& b) { return a = a - b; }
template <class M, class B> requires __is_matrix<M>
__ASSAY_FN constexpr M& operator*=(M& a, const B& b) { return a = a * b; }
template <class M, class B> requires __is_matrix<M>
__ASSAY_FN constexpr M& operator/=(M& a, const B& b) { return a = a / b; }
__ASSAY_MATRIX __ASSAY_FN constexpr bool operator==(const matrix<T, C, R>& a, const matrix<T, C, R>& b) {
  bool equal = true;
  for (int c = 0; c < C; ++c) equal &= all(a.columns[c] == b.columns[c]);
  return equal;
}

__ASSAY_MATRIX __ASSAY_FN constexpr matrix<T, R, C> transpose(const matrix<T, C, R>& a) {
  matrix<T, R, C> result;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) result.columns[r].__v[c] = a.columns[c].__v[r];
  }
  return result;
}
template <class T> __ASSAY_FN constexpr T determinant(const matrix<T, 2, 2>& m) {
  return m.columns[0].__v[0] * m.columns[1].__v[1] - m.columns[1].__v[0] * m.columns[0].__v[1];
}
template <class T> __ASSAY_FN constexpr T determinant(const matrix<T, 3, 3>& m) {
  return dot(m.columns[0], cross(m.columns[1], m.columns[2]));
}
template <class T> __ASSAY_FN constexpr T determinant(const matrix<T, 4, 4>& m) {
  // Along the first row, each minor by the columns that are left.
  T sum = T(0.0f);
  for (int c = 0; c < 4; ++c) {
    vec<T, 3> rest[3];
    for (int k = 0; k < 3; ++k) {
      vec<T, 4> column = m.columns[k < c ? k : k + 1];
      rest[k] = vec<T, 3>((T)column.__v[1], (T)column.__v[2], (T)column.__v[3]);
    }
    T minor_value = dot(rest[0], cross(rest[1], rest[2])) * (T)m.columns[c].__v[0];
    sum += c & 1 ? -minor_value : minor_value;
  }
  return sum;
}
#undef __ASSAY_MATRIX
}  // namespace metal

#define __ASSAY_MATRIX_NAMES(T, C, R)                                                             \
  using T##C##x##R = metal::matrix<T, C, R>;                                                      \
  namespace metal { using ::T##C##x##R; }
#define __ASSAY_MATRIX_TYPES(T)                                                                   \
  __ASSAY_MATRIX_NAMES(T, 2, 2) __ASSAY_MATRIX_NAMES(T, 2, 3) __ASSAY_MATRIX_NAMES(T, 2, 4)        \
  __ASSAY_MATRIX_NAMES(T, 3, 2) __ASSAY_MATRIX_NAMES(T, 3, 3) __ASSAY_MATRIX_NAMES(T, 3, 4)        \
  __ASSAY_MATRIX_NAMES(T, 4, 2) __ASSAY_MATRIX_NAMES(T, 4, 3) __ASSAY_MATRIX_NAMES(T, 4, 4)
__ASSAY_MATRIX_TYPES(float)
__ASSAY_MATRIX_TYPES(half)
__ASSAY_MATRIX_TYPES(bfloat)
#undef __ASSAY_MATRIX_TYPES
#undef __ASSAY_MATRIX_NAMES
