#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f) {
  float a[4];
  thread float* p[2] = {a, a + 2};
  thread float** q = p;
  q[1][0] = 1;
  f[0] = a[2];
  device float* d[2] = {f, f + 1};
  d[1][0] = 3;
  device float* device* z;
  threadgroup float* tp;
  constant float* cp = nullptr;
  if (cp == nullptr) f[3] = 1;
  f[2] = d[0] == f;
}
