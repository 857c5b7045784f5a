#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  array<float, 4> a;
  a[0] = 1;
  a.fill(3);
  array<int, 3> b = {1, 2, 3};
  f[0] = a[1] + b.size() + b[2];
  constexpr array<float, 2> c = {{1.0f, 2.0f}};
  f[1] = c[0];
  for (float x : a) f[2] += x;
}
