#include <metal_stdlib>
using namespace metal;

__attribute__((noinline)) float big(float x) {
  return x * x;
}
[[gnu::noinline]] float big2(float x) {
  return x * x;
}
METAL_FUNC float3 m3(float3 a) {
  return a;
}
inline __attribute__((always_inline)) half m4(half a) {
  return a;
}
kernel void k(device float* __restrict f, const device float* restrict g) {
  f[0] = big(g[0]) + big2(1) + m3(1).x + m4(1);
}
