#include <metal_stdlib>
using namespace metal;

struct P {
  uint a;
  packed_float3 b;
  float3 c;
  half d;
  bool e;
  uchar f[3];
  uint64_t g;
};
kernel void k(constant P& p [[buffer(0)]], const device P* q [[buffer(1)]],
              device P& r [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  P l = p;
  P m = q[i];
  r = l;
  r.a += m.a;
  thread P& z = l;
  r.c = z.c;
}
