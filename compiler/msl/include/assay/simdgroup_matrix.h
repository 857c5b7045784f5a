// 8x8 matrices spread over a simdgroup: each lane owns two neighbouring elements of one row.
#pragma once
#include "simdgroup.h"

namespace metal {
template <class T>
concept __matrix_element = __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);

// What a lane holds of a matrix; code that goes past simdgroup_matrix uses this as its storage.
template <class T> struct vec<T, 64> {
  vec<T, 2> __own;
};

template <class T, int Cols, int Rows = Cols>
struct simdgroup_matrix {
  // Not a constraint of the template: programs name matrices of other types without using them.
  static_assert(__matrix_element<T>, "a simdgroup matrix has elements of half, bfloat or float");
  static_assert(Cols == 8 && Rows == 8, "a simdgroup matrix has 8 rows and 8 columns");
  using storage_type = vec<T, 64>;
  storage_type t;

  simdgroup_matrix() = default;
  // A multiple of the identity.
  __ASSAY_MEMBER explicit simdgroup_matrix(T diagonal) {
    uint row = __assay_matrix_row(), column = __assay_matrix_column();
    t.__own = vec<T, 2>(row == column ? diagonal : T(0.0f), row == column + 1 ? diagonal : T(0.0f));
  }
  template <class S> __ASSAY_MEMBER auto& thread_elements(this S&& self) { return self.t.__own; }
};

template <class T, int Cols, int Rows = Cols, class V>
__ASSAY_FN simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(V value) {
  simdgroup_matrix<T, Cols, Rows> m;
  m.t.__own = vec<T, 2>(__convert<T>(value));
  return m;
}
template <class T, int Cols, int Rows = Cols, class V>
__ASSAY_FN simdgroup_matrix<T, Cols, Rows> make_diagonal_simdgroup_matrix(V value) {
  return simdgroup_matrix<T, Cols, Rows>(__convert<T>(value));
}

// Two elements side by side, aligned as one: a matrix may begin at any element.
template <class T> struct __attribute__((packed, aligned(sizeof(T)))) __pair {
  T __attribute__((ext_vector_type(2))) both;
};

// The origin is (column, row) in memory, whose rows are `stride` elements apart. Transposed, the
// element (row, column) of the matrix lies at (column, row) from there.
// The operands of a load or store of a matrix must be the same in all lanes; a check tests that.
__ASSAY_FN void __expect_uniform(ulong value) {
  if (!__builtin_constant_p(value)) __assay_expect_uniform_i64(value);
}

template <class T, int Cols, int Rows, class P>
  requires(__is_pointer(P) && __is_same(__bare_t<decltype(*declval<P>())>, T))
__ASSAY_FN void simdgroup_load(simdgroup_matrix<T, Cols, Rows>& d, P source, ulong stride = Cols,
                               vec<ulong, 2> origin = 0, bool transpose = false) {
  __expect_uniform((ulong)source);
  __expect_uniform(stride);
  __expect_uniform(origin.__v[0] | origin.__v[1] << 32);
  __expect_uniform(transpose);
  using E = __bare_t<decltype(*source)>;
  ulong row = __assay_matrix_row(), column = __assay_matrix_column();
  P start = source + (origin.__v[1] * stride + origin.__v[0]);
  if (transpose) {
    P place = start + (column * stride + row);
    d.t.__own = vec<T, 2>(__convert<T>((E)place[0]), __convert<T>((E)place[stride]));
  } else {
    P place = start + (row * stride + column);
    auto pair = (typename __in_space<P, const __pair<E>>::type)place;
    d.t.__own = vec<T, 2>(vec<E, 2>::__from(pair->both));
  }
}
template <class T, int Cols, int Rows, class P>
  requires(__is_pointer(P) && __is_same(__bare_t<decltype(*declval<P>())>, T))
__ASSAY_FN void simdgroup_store(simdgroup_matrix<T, Cols, Rows> a, P destination, ulong stride = Cols,
                                vec<ulong, 2> origin = 0, bool transpose = false) {
  __expect_uniform((ulong)destination);
  __expect_uniform(stride);
  __expect_uniform(origin.__v[0] | origin.__v[1] << 32);
  __expect_uniform(transpose);
  using E = __bare_t<decltype(*destination)>;
  ulong row = __assay_matrix_row(), column = __assay_matrix_column();
  P start = destination + (origin.__v[1] * stride + origin.__v[0]);
  vec<E, 2> own(a.t.__own.__v[0], a.t.__own.__v[1]);
  if (transpose) {
    P place = start + (column * stride + row);
    place[0] = own.__v[0];
    place[stride] = own.__v[1];
  } else {
    P place = start + (row * stride + column);
    ((typename __in_space<P, __pair<E>>::type)place)->both = own.__v;
  }
}

// d = a * b + c with sums in float, k ascending, rounded once to d's type.
template <class D, class A, class B, class C>
__ASSAY_LANE_FN vec<D, 2> __multiply_accumulate(vec<A, 2> a, vec<B, 2> b, vec<C, 2> c) {
  float a0 = a.__v[0], a1 = a.__v[1], b0 = b.__v[0], b1 = b.__v[1], c0 = c.__v[0], c1 = c.__v[1];
  return vec<D, 2>((D)__assay_mma_f32(0, a0, a1, b0, b1, c0, c1),
                   (D)__assay_mma_f32(1, a0, a1, b0, b1, c0, c1));
}
template <class D, class A, class B, class C>
__ASSAY_LANE_FN void simdgroup_multiply_accumulate(
    simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b,
    simdgroup_matrix<C, 8, 8> c) {
  d.t.__own = __multiply_accumulate<D>(a.t.__own, b.t.__own, c.t.__own);
}
template <class D, class A, class B>
__ASSAY_LANE_FN void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                        simdgroup_matrix<B, 8, 8> b) {
  d.t.__own = __multiply_accumulate<D>(a.t.__own, b.t.__own, vec<float, 2>(0.0f));
}
template <class A, class B>
__ASSAY_LANE_FN simdgroup_matrix<A, 8, 8> operator*(simdgroup_matrix<A, 8, 8> a,
                                                    simdgroup_matrix<B, 8, 8> b) {
  simdgroup_matrix<A, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}
template <class D, class A, class B, class C>
__ASSAY_LANE_FN vec<C, 64> __metal_simdgroup_matrix_8x8_multiply_accumulate(
    vec<A, 64> a, vec<B, 64> b, vec<C, 64> c, D) {
  return {__multiply_accumulate<C>(a.__own, b.__own, c.__own)};
}

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;
}  // namespace metal
