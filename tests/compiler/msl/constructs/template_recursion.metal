#include <metal_stdlib>
using namespace metal;

template <int N>
struct Fact {
  static constexpr int v = N * Fact<N - 1>::v;
};
template <>
struct Fact<0> {
  static constexpr int v = 1;
};
template <int N>
float unroll(device float* f) {
  if constexpr (N == 0)
    return 0;
  else
    return f[N] + unroll<N - 1>(f);
}
kernel void k(device float* f) {
  f[0] = Fact<5>::v + unroll<8>(f);
}
