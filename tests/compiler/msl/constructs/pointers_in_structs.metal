#include <metal_stdlib>
using namespace metal;

struct S {
  device float* p;
  threadgroup float* t;
  uint n;
  float get(uint i) const { return i < n ? p[i] : 0; }
  void set(uint i, float v) thread { t[i] = v; }
  static float one() { return 1; }
};
kernel void k(device float* p, threadgroup float* t [[threadgroup(0)]],
              uint i [[thread_position_in_grid]]) {
  S s{p, t, 4};
  s.set(i, s.get(i));
  p[i] = s.t[i] + S::one();
}
