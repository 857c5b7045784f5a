#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uchar raw[1024];
  threadgroup half* a = (threadgroup half*)raw;
  threadgroup float* b = reinterpret_cast<threadgroup float*>(raw + 512);
  a[i] = 1;
  b[i] = 2;
  threadgroup float4* c = (threadgroup float4*)(b);
  c[0] = 1;
  f[i] = a[i] + b[i];
  device uchar* d = (device uchar*)f;
  device const uint4* e = (const device uint4*)(d + 16);
  u[0] = e->x;
  thread float loc[4] = {0};
  thread float4* l = (thread float4*)loc;
  l->x = 1;
  f[1] = loc[0];
}
