#ifndef __ASSAY_TENSOR_PRODUCT
#define __ASSAY_TENSOR_PRODUCT

// Products of matrices by one or more simdgroups: what Metal 4's `mpp::tensor_ops::matmul2d` does.
//
// Which elements of a cooperative tensor a thread has is the implementation's to say, by the headers of
// Metal Performance Primitives. Here it is as shipping kernels take it (MLX, `steel/gemm/nax.h`):
// fragments of 16 rows and 16 columns, row by row, of which each thread has four neighbours in two rows
// that are eight apart. Several simdgroups take fragments in turn.

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
__attribute__((always_inline)) inline int bytes_of(int type) { return (type & 0xff) / 8; }

__attribute__((always_inline)) inline int rows_of(int which, descriptor d) {
  return which == left ? (d.transpose_left ? d.k : d.m)
                       : which == right ? (d.transpose_right ? d.n : d.k) : d.m;
}

__attribute__((always_inline)) inline int columns_of(int which, descriptor d) {
  return which == left ? (d.transpose_left ? d.m : d.k)
                       : which == right ? (d.transpose_right ? d.k : d.n) : d.n;
}

__attribute__((always_inline)) inline int fragments_along(int length) {
  return (length + side - 1) / side;
}

// Elements that each thread has of an operand.
__attribute__((always_inline)) inline int elements_of(int which, descriptor d, int threads) {
  int fragments = fragments_along(rows_of(which, d)) * fragments_along(columns_of(which, d));
  int simdgroups = threads / simdgroup;
  return elements_of_fragment * ((fragments + simdgroups - 1) / simdgroups);
}

// A thread's row among the upper eight of a fragment, and its four columns, 4 * quarter and on.
__attribute__((always_inline)) inline uint row_of_lane(uint lane) {
  return ((lane >> 2) & 4) | ((lane >> 1) & 3);
}
__attribute__((always_inline)) inline uint quarter_of_lane(uint lane) {
  return ((lane >> 2) & 2) | (lane & 1);
}
__attribute__((always_inline)) inline uint lane_of(uint row, uint quarter) {
  return ((row & 4) << 2) | ((quarter & 2) << 2) | ((row & 3) << 1) | (quarter & 1);
}

// An element of a fragment, whose row and column are this thread's own choice.
template <typename T>
__attribute__((always_inline)) inline float element_at(const T* fragment, uint row, uint column) {
  uint lane = lane_of(row & 7, (column >> 2) & 3);
  uint wanted = ((row >> 3) & 1) * 4 + (column & 3);
  float found = 0;
#pragma unroll
  for (uint e = 0; e < elements_of_fragment; e++) {
    float value = simd_shuffle((float)fragment[e], (ushort)lane);
    found = e == wanted ? value : found;
  }
  return found;
}

// Sums of products of what is in registers, in float: k ascends by blocks of 16.
template <typename A, typename B, typename C>
__attribute__((always_inline)) inline void multiply(const descriptor* given, const A* a, const B* b,
                                                    C* c) {
  descriptor d = *given;
  uint lane = __assay_thread_index_in_simdgroup();
  uint own = row_of_lane(lane), quarter = quarter_of_lane(lane);
  int across_left = fragments_along(columns_of(left, d));
  int across_right = fragments_along(columns_of(right, d));
  int across = fragments_along(d.n);
#pragma unroll
  for (int mf = 0; mf < fragments_along(d.m); mf++) {
#pragma unroll
    for (int nf = 0; nf < fragments_along(d.n); nf++) {
      C* sums = c + (mf * across + nf) * elements_of_fragment;
#pragma unroll
      for (int e = 0; e < elements_of_fragment; e++) {
        sums[e] = d.accumulates ? sums[e] : (C)0;
      }
#pragma unroll
      for (int kf = 0; kf < fragments_along(d.k); kf++) {
        const A* l = a + (d.transpose_left ? kf * across_left + mf : mf * across_left + kf) *
                             elements_of_fragment;
        const B* r = b + (d.transpose_right ? nf * across_right + kf : kf * across_right + nf) *
                             elements_of_fragment;
#pragma unroll
        for (uint x = 0; x < 2; x++) {
          // Eight values of k that cost few shuffles: in order, or as the left operand has them.
          bool in_order = d.transpose_left || !d.transpose_right;
          uint k_row = in_order ? 8 * x + own : 4 * (own >> 1) + 2 * x + (own & 1);
          float right_values[4], left_values[4];
#pragma unroll
          for (uint i = 0; i < 4; i++) {
            uint column = 4 * quarter + i;
            right_values[i] = d.transpose_right ? element_at(r, column, k_row)
                                                : element_at(r, k_row, column);
            uint k = in_order ? 8 * x + 2 * quarter + (i & 1) : 4 * quarter + 2 * x + (i & 1);
            uint row = 8 * (i >> 1) + own;
            left_values[i] = d.transpose_left ? element_at(l, k, row) : element_at(l, row, k);
          }
#pragma unroll
          for (uint half_of = 0; half_of < 2; half_of++) {
#pragma unroll
            for (uint pair = 0; pair < 2; pair++) {
              C* s = sums + 4 * half_of + 2 * pair;
              float l0 = left_values[2 * half_of], l1 = left_values[2 * half_of + 1];
              float r0 = right_values[2 * pair], r1 = right_values[2 * pair + 1];
              float s0 = (float)s[0], s1 = (float)s[1];
              s[0] = (C)__assay_mma_f32(0, l0, l1, r0, r1, s0, s1);
              s[1] = (C)__assay_mma_f32(1, l0, l1, r0, r1, s0, s1);
            }
          }
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
__attribute__((always_inline)) inline void make_view(void* to, short rank, P base,
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

// Where the base is and how it is typed does not matter to a slice.
__attribute__((always_inline)) inline void slice_view(void* to, const void* from, short rank,
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
__attribute__((always_inline)) inline bool is_inside(const view<P>* v, int row, int column) {
  return row >= 0 && row < v->extents[1] && column >= 0 && column < v->extents[0];
}
template <typename P>
__attribute__((always_inline)) inline long place_of(const view<P>* v, int row, int column) {
  return v->offset + (long)row * v->strides[1] + (long)column * v->strides[0];
}

// The row and column of one of this thread's elements.
__attribute__((always_inline)) inline int fragment_of_element(uint at, int threads) {
  int simdgroups = threads / simdgroup;
  return (int)(at / elements_of_fragment) * simdgroups +
         (int)(__assay_simdgroup_index_in_threadgroup() % (uint)simdgroups);
}
__attribute__((always_inline)) inline int row_of(int which, descriptor d, uint at, int threads) {
  int across = fragments_along(columns_of(which, d));
  uint lane = __assay_thread_index_in_simdgroup();
  return fragment_of_element(at, threads) / across * side + (int)((at >> 2) & 1) * 8 +
         (int)row_of_lane(lane);
}
__attribute__((always_inline)) inline int column_of(int which, descriptor d, uint at, int threads) {
  int across = fragments_along(columns_of(which, d));
  uint lane = __assay_thread_index_in_simdgroup();
  return fragment_of_element(at, threads) % across * side + (int)quarter_of_lane(lane) * 4 +
         (int)(at & 3);
}
__attribute__((always_inline)) inline bool is_valid(int which, descriptor d, uint at, int threads) {
  return row_of(which, d, at, threads) < rows_of(which, d) &&
         column_of(which, d, at, threads) < columns_of(which, d);
}

template <typename T, typename P>
__attribute__((always_inline)) inline void load_tensor(int which, descriptor d, T* elements,
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
__attribute__((always_inline)) inline void store_tensor(int which, descriptor d, const T* elements,
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

// Operands of a product of which one, at least, is in memory.
template <typename T, typename P, typename S>
struct in_memory {
  const view<P>* given;
  __attribute__((always_inline)) S at(int row, int column) const {
    S value = 0;
    if (is_inside(given, row, column)) value = (S)(T)given->base[place_of(given, row, column)];
    return value;
  }
  __attribute__((always_inline)) int extent(int dimension) const {
    return given->extents[dimension];
  }
};
template <typename T>
struct in_registers {
  const T* elements;
  descriptor d;
  int which;
  __attribute__((always_inline)) float at(int row, int column) const {
    int fragment = row / side * fragments_along(columns_of(which, d)) + column / side;
    return element_at(elements + fragment * elements_of_fragment, row % side, column % side);
  }
  __attribute__((always_inline)) int extent(int dimension) const {
    return dimension == 0 ? columns_of(which, d) : rows_of(which, d);
  }
};

__attribute__((always_inline)) inline float __sum(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
__attribute__((always_inline)) inline int __sum(int a, int b, int c) { return a * b + c; }

// Sums of products for the elements that this thread has; k ascends one by one.
template <typename L, typename R, typename S>
__attribute__((always_inline)) inline void multiply_views(const descriptor* given, L l, R r,
                                                          S* sums, int threads) {
  descriptor d = *given;
  int count = elements_of(destination, d, threads);
  int depth = d.k >= 0 ? d.k : l.extent(d.transpose_left ? 1 : 0);
#pragma unroll
  for (int at = 0; at < count; at++) sums[at] = d.accumulates ? sums[at] : (S)0;
  for (int k = 0; k < depth; k++) {
#pragma unroll
    for (int at = 0; at < count; at++) {
      int m = row_of(destination, d, at, threads), n = column_of(destination, d, at, threads);
      S a = d.transpose_left ? l.at(k, m) : l.at(m, k);
      S b = d.transpose_right ? r.at(n, k) : r.at(k, n);
      sums[at] = __sum(a, b, sums[at]);
    }
  }
}

}  // namespace __tensor
}  // namespace metal

#endif
