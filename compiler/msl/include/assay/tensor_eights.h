// Products in registers for kernels that count on GPUs before M5.
//
// Where such GPUs keep elements is not told either. It is taken from kernels that PyTorch ships for them
// (`prefill_attention_mpp_a9`): matrices of 8 x 8 as those of simdgroups, row by row, of which each thread
// has two neighbours. A right operand that is transposed lies as the product takes it, k by n. What no such
// kernel does calls a function that is not there, by which it is refused.
#pragma once
#include "tensor_product.h"

extern "C" void __assay_unknown_places_of_tensor();

namespace metal {
namespace __tensor {
namespace eights {

constexpr int side = 8;
constexpr int elements = 2;

__ASSAY_FN void expect_known(descriptor d, int threads) {
  bool is_whole = d.m % 16 == 0 && d.n % 16 == 0 && d.k % 16 == 0;
  if (threads != simdgroup || d.k <= 0 || !is_whole || d.transpose_left) __assay_unknown_places_of_tensor();
}

__ASSAY_FN bool is_turned(int which, descriptor d) { return which == right && d.transpose_right; }

// A thread's element, in the matrix that the product takes.
__ASSAY_FN int row_in_product(int which, descriptor d, uint at) {
  int across = (which == left ? d.k : d.n) / side;
  return (int)at / elements / across * side + (int)row_of_lane(__assay_thread_index_in_simdgroup());
}
__ASSAY_FN int column_in_product(int which, descriptor d, uint at) {
  int across = (which == left ? d.k : d.n) / side;
  return (int)at / elements % across * side + (int)at % elements +
         2 * (int)quarter_of_lane(__assay_thread_index_in_simdgroup());
}
__ASSAY_FN int row_of(int which, descriptor d, uint at) {
  return is_turned(which, d) ? column_in_product(which, d, at) : row_in_product(which, d, at);
}
__ASSAY_FN int column_of(int which, descriptor d, uint at) {
  return is_turned(which, d) ? row_in_product(which, d, at) : column_in_product(which, d, at);
}

__ASSAY_FN bool is_valid(int, descriptor d, uint, int threads) {
  expect_known(d, threads);
  return true;
}

template <typename T, typename P>
__ASSAY_FN void load_tensor(int which, descriptor d, T* to, const view<P>* from, int threads) {
  expect_known(d, threads);
#pragma unroll
  for (int at = 0; at < elements_of(which, d, simdgroup); at++) {
    int row = row_of(which, d, at), column = column_of(which, d, at);
    T value = 0;
    if (is_inside(from, row, column)) value = from->base[place_of(from, row, column)];
    to[at] = value;
  }
}

template <typename T, typename P>
__ASSAY_FN void store_tensor(int which, descriptor d, const T* from, const view<P>* to, int threads) {
  expect_known(d, threads);
#pragma unroll
  for (int at = 0; at < elements_of(which, d, simdgroup); at++) {
    int row = row_of(which, d, at), column = column_of(which, d, at);
    if (is_inside(to, row, column)) to->base[place_of(to, row, column)] = from[at];
  }
}

// Sums of products of what is in registers: k ascends by eights.
template <typename A, typename B, typename S>
__ASSAY_FN void multiply(const descriptor* given, const A* a, const B* b, S* sums, int threads) {
  descriptor d = *given;
  expect_known(d, threads);
  int across = d.n / side, deep = d.k / side;
#pragma unroll
  for (int at = 0; at < d.m / side * across; at++) {
    S* sum = sums + elements * at;
#pragma unroll
    for (int e = 0; e < elements; e++) sum[e] = d.accumulates ? sum[e] : (S)0;
#pragma unroll
    for (int k = 0; k < deep; k++) {
      const A* of_left = a + elements * (at / across * deep + k);
      const B* of_right = b + elements * (k * across + at % across);
      float l[elements] = {(float)of_left[0], (float)of_left[1]};
      float r[elements] = {(float)of_right[0], (float)of_right[1]};
      S before[elements] = {sum[0], sum[1]};
      sum[0] = add_products(0, l, r, before);
      sum[1] = add_products(1, l, r, before);
    }
  }
}

}  // namespace eights
}  // namespace __tensor
}  // namespace metal
