#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], threadgroup float4* a [[threadgroup(0)]],
              threadgroup half (&b)[8] [[threadgroup(1)]], uint i [[thread_position_in_grid]]) {
  a[i] = 1;
  b[i % 8] = 2;
  f[i] = a[i].x + b[0];
}
