#ifndef __ASSAY_TENSOR_CONVOLUTION
#define __ASSAY_TENSOR_CONVOLUTION

// Convolutions of tensors in memory: what Metal 4's `mpp::tensor_ops::convolution2d` does.
//
// What a thread has of the result is as of a matrix that has a row for each pixel and a column for each
// channel. The offset is where the middle of the kernel, its element `size / 2`, lies in the source for
// the first pixel.

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

__attribute__((always_inline)) inline descriptor as_matrix(const convolution* c) {
  int pixels = c->destination[1] * c->destination[2] * c->destination[3];
  return descriptor{pixels, c->destination[0], 0, false, false, false, 0};
}

__attribute__((always_inline)) inline void coordinate_of(const convolution* c, uint at, int* to,
                                                         int threads) {
  int pixel = row_of(destination, as_matrix(c), at, threads);
  to[0] = column_of(destination, as_matrix(c), at, threads);
  to[1] = pixel % c->destination[1];
  to[2] = pixel / c->destination[1] % c->destination[2];
  to[3] = pixel / (c->destination[1] * c->destination[2]);
}

// An element of a tensor of four dimensions; 0 outside.
template <typename T, typename P>
__attribute__((always_inline)) inline float at_four(const view<P>* v, int a, int b, int c, int d) {
  int at[4] = {a, b, c, d};
  long place = v->offset;
  bool inside = true;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    inside = inside && at[i] >= 0 && at[i] < v->extents[i];
    place += (long)at[i] * v->strides[i];
  }
  float value = 0;
  if (inside) value = (float)(T)v->base[place];
  return value;
}

template <typename T, typename W, typename P, typename Q>
__attribute__((always_inline)) inline void convolve(const convolution* given, const view<P>* source,
                                                    const view<Q>* weights, float* sums,
                                                    int threads, const int* offset) {
  convolution c = *given;
  int count = elements_of(destination, as_matrix(&c), threads);
  int depth = weights->extents[1];
#pragma unroll
  for (int e = 0; e < count; e++) sums[e] = c.accumulates ? sums[e] : 0.0f;
  for (int ky = 0; ky < c.kernel[1]; ky++) {
    for (int kx = 0; kx < c.kernel[0]; kx++) {
      int x0 = offset[0] + (kx - c.kernel[0] / 2) * c.dilations[0];
      int y0 = offset[1] + (ky - c.kernel[1] / 2) * c.dilations[1];
      for (int channel = 0; channel < depth; channel++) {
#pragma unroll
        for (int e = 0; e < count; e++) {
          int at[4];
          coordinate_of(&c, e, at, threads);
          int first = at[0] * c.groups / c.destination[0] * depth;
          float a = at_four<T>(source, first + channel, at[1] * c.strides[0] + x0,
                               at[2] * c.strides[1] + y0, at[3]);
          float b = at_four<W>(weights, at[0], channel, kx, ky);
          sums[e] = __sum(a, b, sums[e]);
        }
      }
    }
  }
}

}  // namespace __tensor
}  // namespace metal

#endif
