#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  f[0] = as_type<float>(u[0]);
  u[1] = as_type<uint>(f[1]);
  half2 q = as_type<half2>(u[2]);
  u[3] = as_type<uint>(q);
  uchar4 c = as_type<uchar4>(u[4]);
  ushort2 s = as_type<ushort2>(f[2]);
  u[5] = c.x + s.y;
  ulong l = as_type<ulong>(uint2(1, 2));
  u[6] = as_type<uint2>(l).y;
  float4 z = as_type<float4>(uint4(1));
  f[3] = z.x;
  char4 cc = as_type<char4>(n[0]);
  n[1] = cc.x;
  packed_float3 pf;
}
