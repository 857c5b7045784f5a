#include <metal_stdlib>
using namespace metal;

void foo(float device* p, float threadgroup* q, int constant& c) {
  p[0] = q[0] + c;
}
kernel void k(float device* f [[buffer(0)]], int constant& c [[buffer(1)]]) {
  float threadgroup t[4];
  t[0] = 1;
  foo(f, t, c);
}
