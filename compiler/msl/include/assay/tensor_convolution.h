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

// What a pixel of the result takes of the source, with the middle of the kernel at `x`, `y`.
template <typename T, typename P>
__ASSAY_FN float taken(const convolution& c, const view<P>* source, int pixel, int channel, int x,
                       int y) {
  int width = c.destination[1], height = c.destination[2];
  return at_four<T>(source, channel, pixel % width * c.strides[0] + x,
                    pixel / width % height * c.strides[1] + y, pixel / (width * height));
}

// One place of the kernel, of which channels ascend by eights: as the product of a matrix of pixels and
// one of weights.
template <typename T, typename W, typename P, typename Q>
__ASSAY_FN void add_channels(const convolution& c, const view<P>* source, const view<Q>* weights,
                             float* sums, int threads, int kx, int ky, int x, int y) {
  descriptor d = as_matrix(&c);
  int count = elements_of(destination, d, threads), across = fragments_along(d.n);
  int depth = weights->extents[1];
  uint lane = __assay_thread_index_in_simdgroup();
  int own = (int)row_of_lane(lane), quarter = (int)quarter_of_lane(lane);
  for (int k = 0; k < depth; k += 8) {
#pragma unroll
    for (int at = 0; at < count; at += elements_of_fragment) {
      int fragment = fragment_of_element(at, threads);
      float left_values[4], right_values[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        int pixel = fragment / across * side + own + 8 * (i >> 1), from = k + 2 * quarter + (i & 1);
        int to = fragment % across * side + 4 * quarter + i;
        left_values[i] = right_values[i] = 0;
        if (from < depth && pixel < d.m) left_values[i] = taken<T>(c, source, pixel, from, x, y);
        if (to < d.n) right_values[i] = at_four<W>(weights, to, k + own, kx, ky);
      }
      add_to_fragment(left_values, right_values, sums + at);
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
        int first = to * c.groups / c.destination[0] * depth;
        float b = at_four<W>(weights, to, k, kx, ky);
        sums[e] = add_product(taken<T>(c, source, pixel, first + k, x, y), b, sums[e]);
      }
    }
  }
}

template <typename T, typename W, typename P, typename Q>
__ASSAY_FN void convolve(const convolution* given, const view<P>* source, const view<Q>* weights,
                         float* sums, int threads, const int* offset) {
  convolution c = *given;
  int count = elements_of(destination, as_matrix(&c), threads);
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
