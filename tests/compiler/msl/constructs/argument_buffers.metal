#include <metal_stdlib>
using namespace metal;

struct Inner {
  device float* p [[id(3)]];
  float s [[id(4)]];
};
struct A {
  device float* a [[id(0)]];
  constant float4& c [[id(1)]];
  array<device float*, 4> arr [[id(10)]];
  Inner in;
  float4 v [[id(20)]];
};
kernel void k(constant A& args [[buffer(0)]], device float* o [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
  o[i] = args.a[i] + args.c.x + args.arr[2][i] + args.in.p[i] * args.in.s + args.v.x;
}
