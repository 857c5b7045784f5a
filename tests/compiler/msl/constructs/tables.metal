#include <metal_stdlib>
using namespace metal;

constexpr constant float tab[4] = {1, 2, 3, 4};
constant int3 ivs[2] = {int3(1), int3(1, 2, 3)};
static_assert(sizeof(float3) == 16, "x");
struct P {
  float a;
  int b;
};
constant P ps[] = {{1, 2}, {3, 4}};
constexpr constant static uint W = 4;
static constexpr constant int X = 5;
constant constexpr half HH = 2.0h;
template <int N>
struct F {
  static constant constexpr int v = N;
  static constexpr int w = N * 2;
};
kernel void k(device float* f, uint i [[thread_position_in_grid]]) {
  f[i] = tab[i % 4] + ps[i % 2].a + ivs[i % 2].x + W + X + HH + F<3>::v + F<2>::w;
  constexpr float loc[2] = {1, 2};
  f[0] = loc[i % 2];
  const constant float* q = tab;
  f[1] = q[2];
  static_assert(F<1>::w == 2);
}
