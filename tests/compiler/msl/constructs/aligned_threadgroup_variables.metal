#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup alignas(16) float a[64];
  alignas(16) threadgroup float b[64];
  a[i] = b[i];
  f[i] = a[i];
  threadgroup __attribute__((aligned(16))) half x[8];
  x[0] = 1;
}
