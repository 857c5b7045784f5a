#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f, constant uint3& dims [[buffer(1)]],
              constant float (&arr)[4] [[buffer(2)]], constant uint* sh [[buffer(3)]],
              device float (&fa)[16] [[buffer(4)]]) {
  f[0] = dims.x + arr[2] + sh[1];
  fa[3] = 1;
}
