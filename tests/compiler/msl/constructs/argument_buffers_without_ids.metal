#include <metal_stdlib>
using namespace metal;

struct B {
  device float* a;
  device int* b;
  float s;
};
kernel void k(device B& args [[buffer(0)]], device float* o [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
  o[i] = args.a[i] + args.b[i] * args.s;
}
