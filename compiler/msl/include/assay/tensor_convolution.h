// Convolutions of tensors in memory: what Metal 4's `mpp::tensor_ops::convolution2d` does.
//
// What a thread has of the result is as of a matrix that has a row for each pixel and a column for each
// channel. The offset is where the middle of the kernel, its element `size / 2`, lies in the source for
// the first pixel.
#pragma once
#include "tensor_product.h"

namespace metal {
namespace __tensor {

// As Apple's header lays out `convolution2d_descriptor`; dimensions are channels, width, height, count.
struct convolution {
  int destination[4], source[4], kernel[2];
  int activation_layout, weights_layout;
  int strides[2], dilations[2];
  int groups;
  bool relaxed_precision;
  int accumulates;
};

__ASSAY_FN constexpr descriptor as_matrix(const convolution* c) {
  int pixels = c->destination[1] * c->destination[2] * c->destination[3];
  return descriptor{pixels, c->destination[0], 0, false, false, false, 0};
}

__ASSAY_FN void coordinate_of(const convolution* c, uint at, int* to,
                                                         int threads) {
  int pixel = row_of(destination, as_matrix(c), at, threads);
  to[0] = column_of(destination, as_matrix(c), at, threads);
  to[1] = pixel % c->destination[1];
  to[2] = pixel / c->destination[1] % c->destination[2];
  to[3] = pixel / (c->destination[1] * c->destination[2]);
}

// An element of a tensor of four dimensions; 0 outside.
template <typename T, typename P>
__ASSAY_FN float at_four(const view<P>* v, int a, int b, int c, int d) {
  int at[4] = {a, b, c, d};
  long place;
  float value = 0;
  if (find<4>(v, at, &place)) value = (float)(T)v->base[place];
  return value;
}
// It, and its three neighbours in the first dimension.
template <typename T, typename P>
__ASSAY_FN void row_at_four(const view<P>* v, int a, int b, int c, int d, float* values) {
  int at[4] = {a, b, c, d};
  long place;
  if (find<4>(v, at, &place) && v->strides[0] == 1 && a + 3 < v->extents[0]) {
    four_at<T>(v->base + place, values);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) values[i] = at_four<T>(v, a + i, b, c, d);
  }
}

// Where the source has what a pixel of the result takes, with the middle of the kernel at `x`, `y`.
__ASSAY_FN void taken_from(const convolution& c, int pixel, int x, int y, int* to) {
  int width = c.destination[1], height = c.destination[2];
  to[0] = pixel % width * c.strides[0] + x;
  to[1] = pixel / width % height * c.strides[1] + y;
  to[2] = pixel / (width * height);
}

// One place of the kernel, of which channels ascend by blocks of 16: as the product of a matrix of pixels and
// one of weights.
template <typename T, typename W, typename P, typename Q>
__ASSAY_FN void add_channels(const convolution& c, const view<P>* source, const view<Q>* weights,
                             float* sums, int threads, int kx, int ky, int x, int y) {
  descriptor d = as_matrix(&c);
  int count = elements_of(destination, d, threads), across = fragments_along(d.n);
  int depth = weights->extents[1];
  uint lane = __assay_thread_index_in_simdgroup();
  int own = (int)row_of_lane(lane), quarter = (int)quarter_of_lane(lane);
  for (int k = 0; k < depth; k += side) {
#pragma unroll
    for (int at = 0; at < count; at += elements_of_fragment) {
      int fragment = fragment_of_element(at, threads);
      int to = fragment % across * side + 4 * quarter;
      float l_values[8];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        int pixel = fragment / across * side + own + 8 * i, from[3];
        taken_from(c, pixel, x, y, from);
#pragma unroll
        for (int j = 0; j < 4; j++) l_values[4 * i + j] = 0;
        if (pixel < d.m) {
          row_at_four<T>(source, k + 4 * quarter, from[0], from[1], from[2], l_values + 4 * i);
        }
      }
#pragma unroll
      for (int part = 0; part < 2; part++) {
        int channel = k + 4 * (own >> 1) + 2 * part + (own & 1);
        float left_values[4], right_values[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          bool is_there = k + 4 * quarter + 2 * part + (i & 1) < depth;
          left_values[i] = is_there ? l_values[4 * (i >> 1) + 2 * part + (i & 1)] : 0;
        }
        row_at_four<W>(weights, to, channel, kx, ky, right_values);
        add_to_fragment(left_values, right_values, sums + at);
      }
    }
  }
}

// The same of grouped channels, or by a thread alone: each element by itself.
template <typename T, typename W, typename P, typename Q>
__ASSAY_FN void add_grouped(const convolution& c, const view<P>* source, const view<Q>* weights,
                            float* sums, int threads, int kx, int ky, int x, int y) {
  descriptor d = as_matrix(&c);
  int count = elements_of(destination, d, threads), depth = weights->extents[1];
  for (int k = 0; k < depth; k++) {
#pragma unroll
    for (int e = 0; e < count; e++) {
      int pixel = row_of(destination, d, e, threads), to = column_of(destination, d, e, threads);
      if (pixel < d.m && to < d.n) {
        int first = to * c.groups / c.destination[0] * depth, from[3];
        taken_from(c, pixel, x, y, from);
        float a = at_four<T>(source, first + k, from[0], from[1], from[2]);
        sums[e] = add_product(a, at_four<W>(weights, to, k, kx, ky), sums[e]);
      }
    }
  }
}

template <typename T, typename W, typename P, typename Q>
__ASSAY_FN void convolve(const convolution* given, const view<P>* source, const view<Q>* weights,
                         float* sums, int threads, const int* offset) {
  convolution c = *given;
  int count = elements_of(destination, as_matrix(&c), threads);
  expect_threads(threads);
#pragma unroll
  for (int e = 0; e < count; e++) sums[e] = c.accumulates ? sums[e] : 0.0f;
  for (int ky = 0; ky < c.kernel[1]; ky++) {
    for (int kx = 0; kx < c.kernel[0]; kx++) {
      int x = offset[0] + (kx - c.kernel[0] / 2) * c.dilations[0];
      int y = offset[1] + (ky - c.kernel[1] / 2) * c.dilations[1];
      if (c.groups == 1 && threads >= simdgroup) {
        add_channels<T, W>(c, source, weights, sums, threads, kx, ky, x, y);
      } else {
        add_grouped<T, W>(c, source, weights, sums, threads, kx, ky, x, y);
      }
    }
  }
}

}  // namespace __tensor
}  // namespace metal
