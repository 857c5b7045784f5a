#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float4 x = f[0];
  n[0] = all(isfinite(x)) + any(isinf(x)) + any(isnan(x)) + all(isnormal(x)) +
         any(isordered(x, x)) + any(isunordered(x, x)) + any(not(x < x)) + any(signbit(x)) +
         isnan(f[0]) + isinf(h[0]) + signbit(f[1]) + any(x == x) + all(x != x) + any(!(x < x));
  f[1] = select(1.0f, 2.0f, f[0] > 1.0f) + select(x, x, bool4(true)).x + select(x, x, x > 0.0f).y;
  int4 m = select(int4(1), int4(2), x > 0.f);
  n[1] = m.x;
  n[2] = select(1, 2, n[0]);
}
