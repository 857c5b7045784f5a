// mpp::tensor_ops::matmul2d: its classes around the products of `tensor_product.h`.
#pragma once
#include "cooperative_tensor.h"
#include "limits.h"

namespace metal {
// Elements of an operand of a product. `Rows` and `Columns` of a row's or column's reduction are 1.
template <__tensor::descriptor D, int Threads, int Which>
struct __product_layout {
  static constexpr int capacity = __tensor::elements_of(Which, D, Threads);
  __ASSAY_MEMBER static bool is_valid(int at) { return __tensor::is_valid(Which, D, at, Threads); }
  __ASSAY_MEMBER static void coordinate(int at, int* to) {
    to[0] = __tensor::column_of(Which, D, at, Threads);
    to[1] = __tensor::row_of(Which, D, at, Threads);
  }
  template <class Other>
    requires __is_same(Other, __product_layout)
  __ASSAY_MEMBER static int mapped(int at) { return at; }
};
// One element for each of a thread's rows, or columns, of a result of one simdgroup.
template <__tensor::descriptor D, bool OfRows>
struct __reduction_layout {
  static constexpr int across = __tensor::fragments_along(D.n);
  static constexpr int per_fragment = OfRows ? 2 : 4;
  static constexpr int length = OfRows ? D.m : D.n;
  static constexpr int capacity = per_fragment * __tensor::fragments_along(length);
  using source = __product_layout<D, __tensor::simdgroup, __tensor::destination>;
  // The first of the result's elements that an element here stands for.
  __ASSAY_MEMBER static int first(int at) {
    int fragment = at / per_fragment, within = at % per_fragment;
    return OfRows ? fragment * across * 8 + within * 4 : fragment * 8 + within;
  }
  __ASSAY_MEMBER static void coordinate(int at, int* to) {
    int found[2];
    source::coordinate(first(at), found);
    to[0] = found[OfRows ? 1 : 0];
  }
  __ASSAY_MEMBER static bool is_valid(int at) {
    int found;
    coordinate(at, &found);
    return found < length;
  }
  template <class Other>
    requires __is_same(Other, __reduction_layout)
  __ASSAY_MEMBER static int mapped(int at) { return at; }
  template <class Other>
    requires __is_same(Other, source)
  __ASSAY_MEMBER static int mapped(int at) {
    int fragment = at / 8;
    return OfRows ? fragment / across * 2 + (at >> 2 & 1) : fragment % across * 4 + (at & 3);
  }
};
}  // namespace metal

namespace mpp {
namespace tensor_ops {
template <class T>
  requires __is_integral(T)
struct dynamic_length {
  static constexpr T value = metal::numeric_limits<T>::max();
};
template <class T> constexpr T dynamic_length_v = dynamic_length<T>::value;

struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;
  constexpr matmul2d_descriptor(int m, int n, int k = int(metal::dynamic_extent),
                                bool transpose_left = false, bool transpose_right = false,
                                bool relaxed_precision = false, mode matmul_mode = mode::multiply)
      : m(m), n(n), k(k), transpose_left(transpose_left), transpose_right(transpose_right),
        relaxed_precision(relaxed_precision), matmul_mode(matmul_mode) {}
};

enum class reduction_operation { sum, max, min };
template <class T>
struct reduction_operation_identity {
  static constexpr T sum_identity = T(0);
  static constexpr T max_identity = metal::numeric_limits<T>::lowest();
  static constexpr T min_identity = metal::numeric_limits<T>::max();
};

template <class T> constexpr bool __is_operand =
    metal::is_tensor_v<metal::remove_addrspace_t<T>> ||
    metal::is_cooperative_tensor_v<metal::remove_addrspace_t<T>>;
template <class T> constexpr bool __is_input_element =
    __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat) || __is_same(T, signed char) ||
    __is_same(T, char) || __is_same(T, uchar);
template <class T> constexpr bool __is_sum =
    __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat) || __is_same(T, int);

// What a product reads: a view of memory, or the elements of a thread.
template <metal::__tensor::descriptor D, int Which, class T, class E, class K, class... G>
__ASSAY_FN auto __operand_of(const metal::tensor<T, E, K, G...>& t) {
  using V = metal::__bare_t<T>;
  static_assert(E::rank() == 2, "matmul2d: an operand has two dimensions");
  static_assert(__is_input_element<V>,
                "matmul2d: operands are of half, bfloat, float, char or uchar; others are not supported");
  return metal::__tensor::in_memory<V, T*>{t.__seen()};
}
template <metal::__tensor::descriptor D, int Which, class T, class E, class L>
__ASSAY_FN auto __operand_of(const metal::cooperative_tensor<T, E, L>& t) {
  return metal::__tensor::in_registers<T>{t.__elements, D, Which};
}

template <matmul2d_descriptor Descriptor, class Scope, class... Args>
class matmul2d {
  static_assert(metal::__threads_of<Scope> != 0,
                "matmul2d: its scope is execution_thread, execution_simdgroup or execution_simdgroups<N>");
  static constexpr int __threads = metal::__threads_of<Scope>;
  static constexpr metal::__tensor::descriptor __given = {
      Descriptor.m, Descriptor.n, Descriptor.k, Descriptor.transpose_left, Descriptor.transpose_right,
      Descriptor.relaxed_precision, Descriptor.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate};
  template <int Which, class T, class C>
  using __tensor_of = metal::cooperative_tensor<
      T,
      metal::extents<C, size_t(metal::__tensor::columns_of(Which, __given)),
                     size_t(metal::__tensor::rows_of(Which, __given))>,
      metal::__product_layout<__given, __threads, Which>>;
  template <bool OfRows, class T, class C>
  using __reduced = metal::cooperative_tensor<
      T, metal::extents<C, size_t(OfRows ? __given.m : __given.n)>,
      metal::__reduction_layout<__given, OfRows>>;

 public:
  static constexpr matmul2d_descriptor descriptor = Descriptor;
  using scope = Scope;
  template <class L, class R, class T, class C = int, class...>
  using cooperative_tensor_left_input_t = __tensor_of<metal::__tensor::left, L, C>;
  template <class L, class R, class T, class C = int, class...>
  using cooperative_tensor_right_input_t = __tensor_of<metal::__tensor::right, R, C>;
  template <class L, class R, class T, class C = int, class...>
  using cooperative_tensor_destination_t = __tensor_of<metal::__tensor::destination, T, C>;
  template <class L, class R, class T, class C = int, class...>
  using cooperative_tensor_row_reduction_destination_t = __reduced<true, T, C>;
  template <class L, class R, class T, class C = int, class...>
  using cooperative_tensor_column_reduction_destination_t = __reduced<false, T, C>;

  template <class L, class R, class D>
    requires(__is_operand<L> && __is_operand<R> && __is_operand<D>)
  __ASSAY_MEMBER void run(L& left, R& right, D& destination) const {
    if constexpr (metal::is_tensor_v<D>) {
      // A result in memory passes through registers.
      __tensor_of<metal::__tensor::destination, typename D::value_type, int> sums;
      if constexpr (__given.accumulates) sums.load(destination);
      run(left, right, sums);
      sums.store(destination);
    } else {
      constexpr bool in_registers = metal::is_cooperative_tensor_v<metal::remove_const_t<L>> &&
                                    metal::is_cooperative_tensor_v<metal::remove_const_t<R>>;
      static_assert(__is_sum<typename D::value_type>,
                    "matmul2d: a result is of float, half, bfloat or int; others are not supported");
      static_assert(__threads == metal::__tensor::simdgroup ||
                        !(metal::is_cooperative_tensor_v<metal::remove_const_t<L>> ||
                          metal::is_cooperative_tensor_v<metal::remove_const_t<R>>),
                    "matmul2d: operands in registers are of a single simdgroup");
      metal::__tensor::descriptor given = __given;
      constexpr int count = D::layout::capacity;
      metal::__tensor::sum_type<typename D::value_type> sums[count];
#pragma unroll
      for (int e = 0; e < count; ++e) {
        if constexpr (__given.accumulates) sums[e] = destination.__elements[e];
      }
      if constexpr (in_registers) {
        metal::__tensor::multiply(&given, left.__elements, right.__elements, sums);
      } else {
        metal::__tensor::multiply_views(&given, __operand_of<__given, metal::__tensor::left>(left),
                                        __operand_of<__given, metal::__tensor::right>(right), sums,
                                        __threads);
      }
#pragma unroll
      for (int e = 0; e < count; ++e) destination.__elements[e] = typename D::value_type(sums[e]);
    }
  }

  template <class L, class R, class T, class C = int>
  __ASSAY_MEMBER cooperative_tensor_left_input_t<L, R, T, C> get_left_input_cooperative_tensor() const {
    return {};
  }
  template <class L, class R, class T, class C = int>
  __ASSAY_MEMBER cooperative_tensor_right_input_t<L, R, T, C> get_right_input_cooperative_tensor() const {
    return {};
  }
  template <class L, class R, class T, class C = int>
    requires(__is_operand<L> && __is_operand<R>)
  __ASSAY_MEMBER cooperative_tensor_destination_t<L, R, T, C> get_destination_cooperative_tensor() const {
    return {};
  }
  template <class L, class R, class T, class C = int>
  __ASSAY_MEMBER auto get_row_reduction_destination_cooperative_tensor() const {
    return cooperative_tensor_row_reduction_destination_t<L, R, T, C>{};
  }
  template <class L, class R, class T, class C = int>
  __ASSAY_MEMBER auto get_column_reduction_destination_cooperative_tensor() const {
    return cooperative_tensor_column_reduction_destination_t<L, R, T, C>{};
  }

  // A result as the operand of the next product, where each thread has what that needs already.
  template <class L, class R, class T, class C = int, class S, class E, class Y>
  __ASSAY_MEMBER auto get_left_input_cooperative_tensor(const metal::cooperative_tensor<S, E, Y>& from) const {
    return __converted<cooperative_tensor_left_input_t<L, R, T, C>>(from);
  }
  template <class L, class R, class T, class C = int, class S, class E, class Y>
  __ASSAY_MEMBER auto get_right_input_cooperative_tensor(const metal::cooperative_tensor<S, E, Y>& from) const {
    return __converted<cooperative_tensor_right_input_t<L, R, T, C>>(from);
  }
  template <class L, class R, class T, class S, class E, class Y>
  __ASSAY_MEMBER bool is_compatible_as_left_input(const metal::cooperative_tensor<S, E, Y>&) const {
    return __is_as<cooperative_tensor_left_input_t<L, R, T>, E, Y>;
  }
  template <class L, class R, class T, class S, class E, class Y>
  __ASSAY_MEMBER bool is_compatible_as_right_input(const metal::cooperative_tensor<S, E, Y>&) const {
    return __is_as<cooperative_tensor_right_input_t<L, R, T>, E, Y>;
  }

 private:
  template <class To, class E, class Y>
  static constexpr bool __is_as = E::rank() == 2 && __threads == metal::__tensor::simdgroup &&
                                  E::static_extent(0) == To::static_extent(0) &&
                                  E::static_extent(1) == To::static_extent(1) &&
                                  Y::capacity == To::layout::capacity;
  template <class To, class S, class E, class Y>
  __ASSAY_MEMBER static To __converted(const metal::cooperative_tensor<S, E, Y>& from) {
    To made;
    if constexpr (__is_as<To, E, Y>) {
#pragma unroll
      for (int e = 0; e < Y::capacity; ++e) {
        made.__elements[e] = metal::__convert<typename To::value_type>(from.__elements[e]);
      }
    }
    return made;
  }
};

template <class T>
__ASSAY_FN T __reduced(reduction_operation how, T a, T b) {
  if (how == reduction_operation::sum) return a + b;
  return (how == reduction_operation::max) == (a < b) ? b : a;
}
template <bool OfRows, class T, class E, class F, class L, class M>
__ASSAY_FN void __reduce(const metal::cooperative_tensor<T, E, L>& from,
                         metal::cooperative_tensor<T, F, M>& to, reduction_operation how, T identity) {
  static_assert(requires { M::template mapped<L>(0); },
                "the destination of a reduction is that of the same product, of a single simdgroup");
  bool sums = how == reduction_operation::sum;
#pragma unroll
  for (int e = 0; e < M::capacity; ++e) to.__elements[e] = sums ? T(0) : identity;
#pragma unroll
  for (int e = 0; e < L::capacity; ++e) {
    T& sum = to.__elements[M::template mapped<L>(e)];
    if (L::is_valid(e)) sum = __reduced(how, sum, from.__elements[e]);
  }
#pragma unroll
  for (int e = 0; e < M::capacity; ++e) {
#pragma unroll
    for (ushort lanes = 1; lanes < 32; lanes *= 2) {
      // Lanes whose numbers differ in bits 0 and 3 have the same row, in the others the same columns.
      if ((lanes == 1 || lanes == 8) == OfRows) {
        T other = metal::simd_shuffle_xor(to.__elements[e], lanes);
        to.__elements[e] = __reduced(how, to.__elements[e], other);
      }
    }
    if (sums) to.__elements[e] = identity + to.__elements[e];
  }
}
// Elements of each row, or column, together with the identity. Each thread of a row has the result.
template <class T, class E, class F, class L, class M>
__ASSAY_FN void reduce_rows(metal::cooperative_tensor<T, E, L>& source,
                            metal::cooperative_tensor<T, F, M>& destination,
                            reduction_operation op = reduction_operation::sum,
                            T identity = reduction_operation_identity<T>::sum_identity) {
  __reduce<true>(source, destination, op, identity);
}
template <class T, class E, class F, class L, class M>
__ASSAY_FN void reduce_columns(metal::cooperative_tensor<T, E, L>& source,
                               metal::cooperative_tensor<T, F, M>& destination,
                               reduction_operation op = reduction_operation::sum,
                               T identity = reduction_operation_identity<T>::sum_identity) {
  __reduce<false>(source, destination, op, identity);
}
// Whether `destination.map_iterator(it)` has an answer for the source's iterators.
template <class S, class T, class E, class F, class L, class M>
__ASSAY_FN bool is_iterator_compatible(const metal::cooperative_tensor<S, E, L>&,
                                       const metal::cooperative_tensor<T, F, M>&) {
  return requires { M::template mapped<L>(0); };
}
}  // namespace tensor_ops
}  // namespace mpp
