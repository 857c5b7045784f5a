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

}  // namespace __tensor
}  // namespace metal

#endif
