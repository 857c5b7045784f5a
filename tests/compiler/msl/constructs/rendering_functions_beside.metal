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
kernel void k(device float* f) {
  f[0] = 1;
}
