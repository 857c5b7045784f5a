#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  auto g = [&](float x) { return x * f[0]; };
  f[1] = g(2.0f);
  auto h2 = [](auto a, auto b) { return a + b; };
  f[2] = h2(1, 2.0f);
  auto c = [=](uint k) -> float { return f[k] + i; };
  f[3] = c(1);
  constexpr auto sq = [](int x) { return x * x; };
  n[0] = sq(3);
}
