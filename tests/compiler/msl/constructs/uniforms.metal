#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  uniform<int> a = make_uniform(n[0]);
  uniform<float> b = make_uniform(1.0f);
  f[i] = a + b;
  uniform<uint> c = 3;
  if (c == 3) f[1] = 2;
}
