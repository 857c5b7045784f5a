#include <metal_stdlib>
using namespace metal;

kernel void k(volatile device uint* u, device volatile float4* v,
              coherent(device) device float* w [[buffer(2)]]) {
  u[0] = u[1] + 1;
  float4 a = v[0];
  v[1] = a;
  w[0] = 1;
}
