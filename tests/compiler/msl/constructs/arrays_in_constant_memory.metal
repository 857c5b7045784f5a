#include <metal_stdlib>
using namespace metal;

struct A {
  array<float, 8> v;
  float4 q[2];
};
kernel void k(constant A& a [[buffer(0)]], device float* o, uint i [[thread_position_in_grid]]) {
  o[i] = a.v[i] + a.q[1].x;
}
