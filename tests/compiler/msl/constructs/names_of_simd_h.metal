#include <metal_stdlib>
using namespace metal;

typedef float4 f4;
typedef vector_float4 vf;
typedef simd_float4 sf;
using namespace metal;
typedef struct {
  f4 a;
} S;
typedef matrix_float4x4 mf;
kernel void k(device S* s, constant vector_uint2& v, constant mf& m, constant simd_float4x4& q) {
  s[0].a = m * q[0] * float(v.x);
  vector_float3 z(1);
  sf zz(2);
  s[1].a = zz;
  s[2].a.xyz = z;
}
