#include <metal_stdlib>
using namespace metal;

struct VO {
  float4 p [[position]];
  float2 uv;
};
vertex VO vs(uint i [[vertex_id]], constant float4* p [[buffer(0)]]) {
  VO o;
  o.p = p[i];
  return o;
}
fragment half4 fs(VO in [[stage_in]], texture2d<half> t [[texture(0)]]) {
  if (in.uv.x < 0) discard_fragment();
  constexpr sampler s;
  return t.sample(s, in.uv) + half4(dfdx(in.uv.x));
}
[[fragment]] float4 fs2() {
  return 1;
}
kernel void k(device float* f, texture2d<float> t) {
  constexpr sampler s;
  f[0] = t.sample(s, float2(0.5)).x;
}
kernel void tessellation(device MTLQuadTessellationFactorsHalf* quads,
                         device MTLTriangleTessellationFactorsHalf* triangles) {
  quads[1].insideTessellationFactor[1] = quads[0].edgeTessellationFactor[3];
  triangles[1].insideTessellationFactor = triangles[0].edgeTessellationFactor[2];
}
