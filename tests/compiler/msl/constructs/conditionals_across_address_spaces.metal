#include <metal_stdlib>
using namespace metal;

struct Q {
  float x;
  float4 v;
};
kernel void k(device Q* q, constant Q& c, device float4* a, uint i [[thread_position_in_grid]]) {
  float4 z = i < 3 ? a[i] : float4(0);
  Q l = i > 2 ? q[i] : Q{1, float4(1)};
  float4 w = i ? c.v : a[1];
  q[0].v = z + w + l.v;
  a[2] = i < 4 ? q[1].v : 0;
  float4 e = select(a[0], a[1], i < 2);
  a[3] = e;
  a[4] = (i & 1) ? a[0] : a[1];
  Q m = i ? q[0] : q[1];
  a[5] = m.v;
  a[6] = i ? float4(1) : a[2] * 2;
}
