// mpp::tensor_ops::convolution2d: its classes around `tensor_convolution.h`.
#pragma once
#include "tensor_convolution.h"
#include "tensor_matmul2d.h"
#include "vector_names.h"

namespace metal {
template <__tensor::convolution C, int Threads>
struct __convolution_layout {
  static constexpr int capacity =
      __tensor::elements_of(__tensor::destination, __tensor::as_matrix(&C), Threads);
  __ASSAY_MEMBER static bool is_valid(int at) {
    __tensor::convolution c = C;
    return __tensor::is_valid(__tensor::destination, __tensor::as_matrix(&c), at, Threads);
  }
  __ASSAY_MEMBER static void coordinate(int at, int* to) {
    __tensor::convolution c = C;
    __tensor::coordinate_of(&c, at, to, Threads);
  }
  template <class Other>
    requires __is_same(Other, __convolution_layout)
  __ASSAY_MEMBER static int mapped(int at) { return at; }
};
}  // namespace metal

namespace mpp {
namespace tensor_ops {
enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };

struct convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  metal::__tensor::convolution __given;
  constexpr convolution2d_descriptor(
      int4 destination_dimensions, int4 source_dimensions, int2 kernel_dimensions,
      convolution2d_activation_layout activation_layout = convolution2d_activation_layout::nhwc,
      convolution2d_weights_layout weights_layout = convolution2d_weights_layout::hwio,
      int2 strides = int2(1, 1), int2 dilations = int2(1, 1), int groups = 1,
      bool relaxed_precision = false, mode convolution_mode = mode::multiply)
      : __given{{destination_dimensions.__v[0], destination_dimensions.__v[1],
                 destination_dimensions.__v[2], destination_dimensions.__v[3]},
                {source_dimensions.__v[0], source_dimensions.__v[1], source_dimensions.__v[2],
                 source_dimensions.__v[3]},
                {kernel_dimensions.__v[0], kernel_dimensions.__v[1]},
                int(activation_layout),
                int(weights_layout),
                {strides.__v[0], strides.__v[1]},
                {dilations.__v[0], dilations.__v[1]},
                groups,
                relaxed_precision,
                convolution_mode == mode::multiply_accumulate} {}
};

template <convolution2d_descriptor Descriptor, class Scope, class... Args>
class convolution2d {
  static_assert(metal::__threads_of<Scope> != 0,
                "convolution2d: its scope is execution_thread, execution_simdgroup or "
                "execution_simdgroups<N>");
  static constexpr int __threads = metal::__threads_of<Scope>;
  static constexpr metal::__tensor::convolution __given = Descriptor.__given;
  int __offsets[2] = {0, 0};

 public:
  static constexpr convolution2d_descriptor descriptor = Descriptor;
  using scope = Scope;
  template <class A, class W, class T, class C = int, class...>
  using cooperative_tensor_destination_t = metal::cooperative_tensor<
      T,
      metal::extents<C, size_t(__given.destination[0]), size_t(__given.destination[1]),
                     size_t(__given.destination[2]), size_t(__given.destination[3])>,
      metal::__convolution_layout<__given, __threads>>;
  template <class A, class W, class T, class C = int>
  __ASSAY_MEMBER cooperative_tensor_destination_t<A, W, T, C> get_destination_cooperative_tensor() const {
    return {};
  }

  // Where the middle of the kernel lies in the source for the first pixel.
  __ASSAY_MEMBER void set_offsets(int2 offsets) {
    __offsets[0] = offsets.__v[0];
    __offsets[1] = offsets.__v[1];
  }

  template <class A, class W, class D>
    requires(metal::is_tensor_v<A> && metal::is_tensor_v<W> && __is_operand<D>)
  __ASSAY_MEMBER void run(A& activation, W& weights, D& destination) const {
    if constexpr (metal::is_tensor_v<D>) {
      cooperative_tensor_destination_t<A, W, typename D::value_type> sums;
      if constexpr (__given.accumulates) sums.load(destination);
      run(activation, weights, sums);
      sums.store(destination);
    } else {
      constexpr int count = D::layout::capacity;
      metal::__tensor::convolution given = __given;
      auto source = activation.__seen();
      auto filter = weights.__seen();
      float sums[count];
#pragma unroll
      for (int e = 0; e < count; ++e) sums[e] = __given.accumulates ? float(destination.__elements[e]) : 0.0f;
      metal::__tensor::convolve<typename A::value_type, typename W::value_type>(
          &given, &source, &filter, sums, __threads, __offsets);
#pragma unroll
      for (int e = 0; e < count; ++e) destination.__elements[e] = typename D::value_type(sums[e]);
    }
  }
};
}  // namespace tensor_ops
}  // namespace mpp
