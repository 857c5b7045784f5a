// Products of matrices by one or more simdgroups: what Metal 4's `mpp::tensor_ops::matmul2d` does, for
// source and for what Apple compiled alike.
//
// Which elements of a cooperative tensor a thread has is the implementation's to say, by the headers of
// Metal Performance Primitives. Here it is as shipping kernels take it (MLX, `steel/gemm/nax.h`):
// fragments of 16 rows and 16 columns, row by row, of which each thread has four neighbours in two rows
// that are eight apart. Several simdgroups take fragments in turn. A thread alone has all elements.
#pragma once
#include "simdgroup.h"

namespace metal {
namespace __tensor {

enum operand { left, right, destination };

// As Apple's header lays out `matmul2d_descriptor`.
struct descriptor {
  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  int accumulates;
};

constexpr int side = 16;
constexpr int elements_of_fragment = 8;
constexpr int simdgroup = 32;

// A type's number is its width in bits, with flags above.
__ASSAY_FN constexpr int bytes_of(int type) { return (type & 0xff) / 8; }

__ASSAY_FN constexpr int rows_of(int which, descriptor d) {
  return which == left ? (d.transpose_left ? d.k : d.m)
                       : which == right ? (d.transpose_right ? d.n : d.k) : d.m;
}

__ASSAY_FN constexpr int columns_of(int which, descriptor d) {
  return which == left ? (d.transpose_left ? d.m : d.k)
                       : which == right ? (d.transpose_right ? d.k : d.n) : d.n;
}

__ASSAY_FN constexpr int fragments_along(int length) {
  return (length + side - 1) / side;
}

// Elements that each thread has of an operand.
__ASSAY_FN constexpr int elements_of(int which, descriptor d, int threads) {
  if (threads < simdgroup) return rows_of(which, d) * columns_of(which, d);
  int fragments = fragments_along(rows_of(which, d)) * fragments_along(columns_of(which, d));
  int simdgroups = threads / simdgroup;
  return elements_of_fragment * ((fragments + simdgroups - 1) / simdgroups);
}

// An operation of several simdgroups is one of all that its threadgroup has; one of a single simdgroup
// is each one's own.
__ASSAY_FN void expect_threads(int threads) {
  if (threads > simdgroup) __assay_expect_simdgroups(threads / simdgroup);
}

// A thread's row among the upper eight of a fragment, and its four columns, 4 * quarter and on.
__ASSAY_FN uint row_of_lane(uint lane) {
  return ((lane >> 2) & 4) | ((lane >> 1) & 3);
}
__ASSAY_FN uint quarter_of_lane(uint lane) {
  return ((lane >> 2) & 2) | (lane & 1);
}
__ASSAY_FN uint lane_of(uint row, uint quarter) {
  return ((row & 4) << 2) | ((quarter & 2) << 2) | ((row & 3) << 1) | (quarter & 1);
}

// An element of a fragment, whose row and column are this thread's own choice. The bits of `wanted` say
// which of a thread's elements any thread may choose: each costs a shuffle.
template <typename T>
__ASSAY_FN float element_at(const T* fragment, uint row, uint column, uint wanted = 0xff) {
  uint lane = lane_of(row & 7, (column >> 2) & 3);
  uint chosen = ((row >> 3) & 1) * 4 + (column & 3);
  uint found = 0;
#pragma unroll
  for (uint e = 0; e < elements_of_fragment; e++) {
    if (wanted >> e & 1) {
      uint bits = __assay_simd_shuffle_i32(__builtin_bit_cast(uint, (float)fragment[e]), lane);
      found = e == chosen ? bits : found;
    }
  }
  return __builtin_bit_cast(float, found);
}

// Eight of the sixteen values of k of two fragments, part `x`, as a product of 8 x 8 takes them. Their
// order costs few shuffles: `in_order` leaves a right operand where it is, the other a left one.
template <typename A>
__ASSAY_FN void left_part(const A* l, bool is_transposed, bool in_order, uint x, float* values) {
  uint lane = __assay_thread_index_in_simdgroup();
  uint own = row_of_lane(lane), quarter = quarter_of_lane(lane);
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    uint next = i & 1, lower = i >> 1, row = 8 * lower + own;
    if (!in_order) {
      values[i] = (float)l[4 * lower + 2 * x + next];
    } else if (is_transposed) {
      values[i] = element_at(l, 8 * x + 2 * quarter + next, row, 0xfu << 4 * x);
    } else {
      values[i] = element_at(l, row, 8 * x + 2 * quarter + next, 5u << next << 4 * lower);
    }
  }
}
template <typename B>
__ASSAY_FN void right_part(const B* r, bool is_transposed, bool in_order, uint x, float* values) {
  uint lane = __assay_thread_index_in_simdgroup();
  uint own = row_of_lane(lane), quarter = quarter_of_lane(lane);
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    uint column = 4 * quarter + i, k = 4 * (own >> 1) + 2 * x + (own & 1);
    if (!is_transposed) {
      values[i] = (float)r[4 * x + i];
    } else if (in_order) {
      values[i] = element_at(r, column, 8 * x + own);
    } else {
      values[i] = element_at(r, column, k, 0x33u << 2 * x);
    }
  }
}

// What elements of type C are summed in.
template <typename C> using sum_type = conditional_t<__is_same(C, int), int, float>;

// Element `e` of a row of two neighbours, plus eight products. Sums of integers are integers.
__ASSAY_FN float add_products(int e, const float* l, const float* r, const float* s) {
  return __assay_mma_f32(e, l[0], l[1], r[0], r[1], s[0], s[1]);
}
__ASSAY_FN int add_products(int e, const float* l, const float* r, const int* s) {
  return s[e] + (int)__assay_mma_f32(e, l[0], l[1], r[0], r[1], 0.0f, 0.0f);
}

// A fragment's elements of this thread, plus eight products each. `left` has two neighbours in k for
// each of its two rows, `right` a k for each of its four columns.
template <typename S>
__ASSAY_FN void add_to_fragment(const float* left, const float* right, S* sums) {
#pragma unroll
  for (int pair = 0; pair < 4; pair++) {
    const float* l = left + 2 * (pair >> 1);
    const float* r = right + 2 * (pair & 1);
    S before[2] = {sums[2 * pair], sums[2 * pair + 1]};
    sums[2 * pair] = add_products(0, l, r, before);
    sums[2 * pair + 1] = add_products(1, l, r, before);
  }
}

// Sums of products of what is in registers: k ascends by blocks of 16.
template <typename A, typename B, typename S>
__ASSAY_FN void multiply(const descriptor* given, const A* a, const B* b, S* sums) {
  descriptor d = *given;
  int across_left = fragments_along(columns_of(left, d));
  int across_right = fragments_along(columns_of(right, d));
  int across = fragments_along(d.n);
  bool in_order = d.transpose_left || !d.transpose_right;
#pragma unroll
  for (int e = 0; e < elements_of(destination, d, simdgroup); e++) {
    sums[e] = d.accumulates ? sums[e] : (S)0;
  }
#pragma unroll
  for (int mf = 0; mf < fragments_along(d.m); mf++) {
#pragma unroll
    for (int kf = 0; kf < fragments_along(d.k); kf++) {
      const A* l = a + (d.transpose_left ? kf * across_left + mf : mf * across_left + kf) *
                           elements_of_fragment;
#pragma unroll
      for (uint x = 0; x < 2; x++) {
        float left_values[4];
        left_part(l, d.transpose_left, in_order, x, left_values);
#pragma unroll
        for (int nf = 0; nf < across; nf++) {
          const B* r = b + (d.transpose_right ? nf * across_right + kf : kf * across_right + nf) *
                               elements_of_fragment;
          float right_values[4];
          right_part(r, d.transpose_right, in_order, x, right_values);
          add_to_fragment(left_values, right_values, sums + (mf * across + nf) * elements_of_fragment);
        }
      }
    }
  }
}

// A tensor in memory, as a thread keeps it: dimension 0 is that of columns. Offsets and strides are
// in elements.
constexpr int most_dimensions = 8;
template <typename P>
struct view {
  P base;
  long offset;
  int extents[most_dimensions];
  int strides[most_dimensions];
};

template <typename P>
__ASSAY_FN void make_view(void* to, short rank, P base,
                                                     const void* extents, const void* strides) {
  view<P>* made = (view<P>*)to;
  made->base = base;
  made->offset = 0;
#pragma unroll
  for (short d = 0; d < rank; d++) {
    made->extents[d] = ((const int*)extents)[d];
    made->strides[d] = ((const int*)strides)[d];
  }
}

// A tensor as the host describes it: see `hal/metal/emulated/tensors/tensor.py`.
struct bound {
  __ASSAY_DEVICE char* base;
  int extents[most_dimensions];
  int strides[most_dimensions];
  int rank;
  int bytes;  // of an element
};

// How Apple's compiler passes tensors: by a pointer to where the host describes them, which the place of
// a slice's first element may precede, or as a view that the kernel made.
enum passed { by_handle, by_offset, inline_view };
template <int Rank, typename P>
__ASSAY_FN view<P> seen(const void* given, int how) {
  if (how != by_handle && how != by_offset) return *(const view<P>*)given;
  typedef const __ASSAY_DEVICE bound* pointer;
  const int* starts = (const int*)given;
  int before = how == by_offset ? (Rank + 1) / 2 * 2 : 0;
  pointer of = *(const pointer*)(starts + before);
  view<P> made;
  made.base = (P)of->base;
  made.offset = 0;
#pragma unroll
  for (int d = 0; d < Rank; d++) {
    int start = how == by_offset ? starts[d] : 0;
    made.offset += (long)start * of->strides[d];
    made.extents[d] = of->extents[d] - start;
    made.strides[d] = of->strides[d];
  }
  return made;
}

// Where an element of a tensor that the host describes lies, by as many indices as it has dimensions.
__ASSAY_FN __ASSAY_DEVICE char* element_of(const __ASSAY_DEVICE void* given, short rank, const void* at) {
  const __ASSAY_DEVICE bound* of = (const __ASSAY_DEVICE bound*)given;
  long place = 0;
#pragma unroll
  for (short d = 0; d < rank; d++) {
    int index = ((const int*)at)[d];
    __assay_expect_inside(index, of->extents[d]);
    place += (long)index * of->strides[d];
  }
  return of->base + place * of->bytes;
}

// Where the base is and how it is typed does not matter to a slice.
__ASSAY_FN void slice_view(void* to, const void* from, short rank,
                                                      const void* starts, const void* extents) {
  typedef view<__ASSAY_DEVICE char*> any;
  any* made = (any*)to;
  const any* given = (const any*)from;
  made->base = given->base;
  long offset = given->offset;
#pragma unroll
  for (short d = 0; d < rank; d++) {
    offset += (long)((const int*)starts)[d] * given->strides[d];
    made->extents[d] = ((const int*)extents)[d];
    made->strides[d] = given->strides[d];
  }
  made->offset = offset;
}

// Elements outside of a tensor are 0 when read, and are not written.
template <typename P>
__ASSAY_FN bool is_inside(const view<P>* v, int row, int column) {
  return row >= 0 && row < v->extents[1] && column >= 0 && column < v->extents[0];
}
template <typename P>
__ASSAY_FN long place_of(const view<P>* v, int row, int column) {
  return v->offset + (long)row * v->strides[1] + (long)column * v->strides[0];
}

// The row and column of one of this thread's elements.
__ASSAY_FN int fragment_of_element(uint at, int threads) {
  int simdgroups = threads / simdgroup;
  return (int)(at / elements_of_fragment) * simdgroups +
         (int)(__assay_simdgroup_index_in_threadgroup() % (uint)simdgroups);
}
__ASSAY_FN int row_of(int which, descriptor d, uint at, int threads) {
  if (threads < simdgroup) return (int)at / columns_of(which, d);
  int across = fragments_along(columns_of(which, d));
  uint lane = __assay_thread_index_in_simdgroup();
  return fragment_of_element(at, threads) / across * side + (int)((at >> 2) & 1) * 8 +
         (int)row_of_lane(lane);
}
__ASSAY_FN int column_of(int which, descriptor d, uint at, int threads) {
  if (threads < simdgroup) return (int)at % columns_of(which, d);
  int across = fragments_along(columns_of(which, d));
  uint lane = __assay_thread_index_in_simdgroup();
  return fragment_of_element(at, threads) % across * side + (int)quarter_of_lane(lane) * 4 +
         (int)(at & 3);
}
__ASSAY_FN bool is_valid(int which, descriptor d, uint at, int threads) {
  return row_of(which, d, at, threads) < rows_of(which, d) &&
         column_of(which, d, at, threads) < columns_of(which, d);
}

template <typename T, typename P>
__ASSAY_FN void load_tensor(int which, descriptor d, T* elements,
                                                       const view<P>* from, int threads) {
  int count = elements_of(which, d, threads);
#pragma unroll
  for (int at = 0; at < count; at++) {
    int row = row_of(which, d, at, threads), column = column_of(which, d, at, threads);
    T value = 0;
    if (is_valid(which, d, at, threads) && is_inside(from, row, column)) {
      value = from->base[place_of(from, row, column)];
    }
    elements[at] = value;
  }
}

template <typename T, typename P>
__ASSAY_FN void store_tensor(int which, descriptor d, const T* elements,
                                                        const view<P>* to, int threads) {
  int count = elements_of(which, d, threads);
#pragma unroll
  for (int at = 0; at < count; at++) {
    int row = row_of(which, d, at, threads), column = column_of(which, d, at, threads);
    if (is_valid(which, d, at, threads) && is_inside(to, row, column)) {
      to->base[place_of(to, row, column)] = elements[at];
    }
  }
}

// Where an element of a tensor of `Rank` dimensions lies; whether it is inside.
template <int Rank, typename P>
__ASSAY_FN bool find(const view<P>* v, const int* at, long* place) {
  bool inside = true;
  *place = v->offset;
#pragma unroll
  for (int i = 0; i < Rank; i++) {
    inside = inside && at[i] >= 0 && at[i] < v->extents[i];
    *place += (long)at[i] * v->strides[i];
  }
  return inside;
}

// Four neighbours of a row, from `place` on: one access where they are all inside.
template <typename T, typename P>
__ASSAY_FN void four_at(P place, float* values) {
  typedef T four __attribute__((ext_vector_type(4), aligned(sizeof(T))));
  four found = *(typename __in_space<P, const four>::type)place;
#pragma unroll
  for (int i = 0; i < 4; i++) values[i] = (float)(T)found[i];
}

// Operands of a product of which one, at least, is in memory. Integers are exact in float: of 8 bits.
template <typename T, typename P>
struct in_memory {
  view<P> given;
  __ASSAY_MEMBER float at(int row, int column) const {
    float value = 0;
    if (is_inside(&given, row, column)) value = (float)(T)given.base[place_of(&given, row, column)];
    return value;
  }
  __ASSAY_MEMBER void four(int row, int column, float* values) const {
    if (given.strides[0] == 1 && is_inside(&given, row, column) && column + 3 < given.extents[0]) {
      four_at<T>(given.base + place_of(&given, row, column), values);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) values[i] = at(row, column + i);
    }
  }
  __ASSAY_MEMBER int extent(int dimension) const { return given.extents[dimension]; }
};
template <typename T>
struct in_registers {
  const T* elements;
  descriptor d;
  int which;
  __ASSAY_MEMBER float at(int row, int column) const {
    int fragment = row / side * fragments_along(columns_of(which, d)) + column / side;
    return element_at(elements + fragment * elements_of_fragment, row % side, column % side);
  }
  // Of the left operand a thread's own, of the right one what another thread with its columns has.
  __ASSAY_MEMBER void four(int row, int column, float* values) const {
    int fragment = row / side * fragments_along(columns_of(which, d)) + column / side;
    const T* from = elements + fragment * elements_of_fragment;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      values[i] = which == left ? (float)from[(row & 8) / 2 + i]
                                : element_at(from, row % side, column % side + i, 0x11u << i);
    }
  }
  __ASSAY_MEMBER int extent(int dimension) const {
    return dimension == 0 ? columns_of(which, d) : rows_of(which, d);
  }
};

// The same for a thread that has all elements.
__ASSAY_FN float add_product(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }
__ASSAY_FN int add_product(float a, float b, int sum) { return sum + (int)(a * b); }
template <typename L, typename R, typename S>
__ASSAY_FN void multiply_alone(descriptor d, L l, R r, S* sums, int count, int depth) {
  for (int k = 0; k < depth; k++) {
#pragma unroll
    for (int at = 0; at < count; at++) {
      int m = at / d.n, n = at % d.n;
      float a = d.transpose_left ? l.at(k, m) : l.at(m, k);
      float b = d.transpose_right ? r.at(n, k) : r.at(k, n);
      sums[at] = add_product(a, b, sums[at]);
    }
  }
}

// Products whose length is not known before it runs.
__ASSAY_FN constexpr bool is_open(int k) { return k < 0 || k == 0x7fffffff; }

// A thread's values of sixteen in k: four neighbours in each of two rows of the left operand, and in two
// rows of the right one, which is the order of k that `left_part` leaves as it is.
template <typename L>
__ASSAY_FN void left_rows(descriptor d, L l, int row, int k, int depth, float* values) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    int m = row + 8 * i;
    bool is_there = d.m % side == 0 || m < d.m;
#pragma unroll
    for (int j = 0; j < 4; j++) values[4 * i + j] = 0;
    if (is_there && !d.transpose_left) l.four(m, k, values + 4 * i);
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if (is_there && d.transpose_left) values[4 * i + j] = l.at(k + j, m);
      if (!is_open(d.k) && d.k % side != 0 && k + j >= depth) values[4 * i + j] = 0;
    }
  }
}
template <typename R>
__ASSAY_FN void right_row(descriptor d, R r, int k, int column, int depth, float* values) {
  bool is_there = (!is_open(d.k) && d.k % side == 0) || k < depth;
#pragma unroll
  for (int i = 0; i < 4; i++) values[i] = 0;
  if (is_there && !d.transpose_right) r.four(k, column, values);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (is_there && d.transpose_right) values[i] = r.at(column + i, k);
  }
}

// Products for the fragment of which this thread has the first element at a row and column, 16 in k.
template <typename L, typename R, typename S>
__ASSAY_FN void add_block(descriptor d, L l, R r, int row, int column, int k, int depth, S* sums) {
  uint lane = __assay_thread_index_in_simdgroup();
  int own = (int)row_of_lane(lane), quarter = (int)quarter_of_lane(lane);
  float l_values[8];
  left_rows(d, l, row, k + 4 * quarter, depth, l_values);
#pragma unroll
  for (int x = 0; x < 2; x++) {
    float left_values[4] = {l_values[2 * x], l_values[2 * x + 1], l_values[4 + 2 * x],
                            l_values[5 + 2 * x]};
    float right_values[4];
    right_row(d, r, k + 4 * (own >> 1) + 2 * x + (own & 1), column, depth, right_values);
    add_to_fragment(left_values, right_values, sums);
  }
}

// Sums of products for the elements that this thread has; k ascends by blocks of 16.
template <typename L, typename R, typename S>
__ASSAY_FN void multiply_views(const descriptor* given, L l, R r, S* sums, int threads) {
  descriptor d = *given;
  int count = elements_of(destination, d, threads);
  int depth = is_open(d.k) ? l.extent(d.transpose_left ? 1 : 0) : d.k;
#pragma unroll
  for (int at = 0; at < count; at++) sums[at] = d.accumulates ? sums[at] : (S)0;
  if (threads < simdgroup) {
    multiply_alone(d, l, r, sums, count, depth);
    return;
  }
  expect_threads(threads);
  uint lane = __assay_thread_index_in_simdgroup();
  int own = (int)row_of_lane(lane), quarter = (int)quarter_of_lane(lane);
  for (int k = 0; k < depth; k += side) {
#pragma unroll
    for (int at = 0; at < count; at += elements_of_fragment) {
      int fragment = fragment_of_element(at, threads), across = fragments_along(d.n);
      int row = fragment / across * side + own, column = fragment % across * side + 4 * quarter;
      add_block(d, l, r, row, column, k, depth, sums + at);
    }
  }
}

// The same where sums go to memory: each fragment's by itself.
template <typename T, typename L, typename R, typename P>
__ASSAY_FN void multiply_into(const descriptor* given, L l, R r, view<P> to, int threads) {
  typedef sum_type<T> sum;
  descriptor d = *given;
  int count = elements_of(destination, d, threads);
  int depth = is_open(d.k) ? l.extent(d.transpose_left ? 1 : 0) : d.k;
  if (threads >= simdgroup) expect_threads(threads);
  uint lane = __assay_thread_index_in_simdgroup();
  int own = (int)row_of_lane(lane), quarter = (int)quarter_of_lane(lane);
  int step = threads < simdgroup ? 1 : elements_of_fragment;
#pragma unroll
  for (int at = 0; at < count; at += step) {
    sum sums[elements_of_fragment];
#pragma unroll
    for (int e = 0; e < step; e++) {
      int row = row_of(destination, d, at + e, threads), column = column_of(destination, d, at + e, threads);
      bool is_there = d.accumulates && is_valid(destination, d, at + e, threads) && is_inside(&to, row, column);
      sums[e] = is_there ? (sum)(T)to.base[place_of(&to, row, column)] : (sum)0;
    }
    if (threads < simdgroup) {
      int m = at / d.n, n = at % d.n;
      for (int k = 0; k < depth; k++) {
        float a = d.transpose_left ? l.at(k, m) : l.at(m, k);
        float b = d.transpose_right ? r.at(n, k) : r.at(k, n);
        sums[0] = add_product(a, b, sums[0]);
      }
    } else {
      int fragment = fragment_of_element(at, threads), across = fragments_along(d.n);
      int row = fragment / across * side + own, column = fragment % across * side + 4 * quarter;
      for (int k = 0; k < depth; k += side) {
        add_block(d, l, r, row, column, k, depth, sums);
      }
    }
#pragma unroll
    for (int e = 0; e < step; e++) {
      int row = row_of(destination, d, at + e, threads), column = column_of(destination, d, at + e, threads);
      if (is_valid(destination, d, at + e, threads) && is_inside(&to, row, column)) {
        to.base[place_of(&to, row, column)] = (T)sums[e];
      }
    }
  }
}

}  // namespace __tensor
}  // namespace metal
