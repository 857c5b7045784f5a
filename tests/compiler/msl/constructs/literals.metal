#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  f[0] = fabs(-1.0f) + metal::abs(-1) + floor(1.5f);
  float x = 1e-5;
double_t:;
  f[1] = 1.0 / 3;
  f[2] = 1.f;
  f[3] = .5h;
  f[4] = 1e3h;
  f[5] = 0x1p3f;
  u[0] = 1u << 31;
  u[1] = 0xffu;
  u[2] = 0b101;
  u[3] = 1'000;
  h[0] = 1.5;
  n[0] = 'a';
  float2 z = 1.5;
}
