#include <metal_stdlib>
using namespace metal;

template <typename T, int N>
vec<T, N> dbl(vec<T, N> v) {
  return v + v;
}
template <typename T, uint N>
T first(vec<T, N> v) {
  return v[0];
}
template <typename T>
struct V4 {
  using type = vec<T, 4>;
};
kernel void k(device float* f, uint i [[thread_position_in_grid]]) {
  f[i] = dbl(float3(1)).x + first(half2(1));
  V4<float>::type q = 1;
  f[1] = q.x;
  vec<float, 2> z = {1, 2};
  f[2] = z.y;
}
