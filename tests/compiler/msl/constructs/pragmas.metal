#include <metal_stdlib>
using namespace metal;

#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
kernel void k(device float* f) {
  _Pragma("clang loop unroll(full)") for (int j = 0; j < 4; j++) f[j] = j;
#pragma unroll
  for (int j = 0; j < 4; j++) f[j] += j;
#pragma unroll(4)
  for (int j = 0; j < 4; j++) f[j] += j;
  f[0] = f[1] * f[2] + f[3];
}
#pragma METAL internals : enable
#pragma METAL internals : disable
