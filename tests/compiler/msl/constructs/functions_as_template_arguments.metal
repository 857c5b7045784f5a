#include <metal_stdlib>
using namespace metal;

float add(float a, float b) {
  return a + b;
}
template <float (*F)(float, float)>
float red(float a, float b) {
  return F(a, b);
}
typedef float (*op_t)(float, float);
template <typename T, void (*D)(device const T*, thread float4&)>
void dq(device const T* p, thread float4& o) {
  D(p, o);
}
void d1(device const uint* p, thread float4& o) {
  o = *p;
}
kernel void k(device float* f, device uint* u) {
  f[0] = red<add>(1, 2);
  op_t p = add;
  f[1] = p(1, 2);
  float4 o;
  dq<uint, d1>(u, o);
  f[2] = o.x;
  constexpr auto q = &add;
  f[3] = q(1, 1);
}
