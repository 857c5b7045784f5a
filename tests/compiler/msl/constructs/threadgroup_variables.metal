#include <metal_stdlib>
using namespace metal;

template <int N>
void helper(threadgroup float (&t)[N], uint i) {
  t[i] = i;
}
void h2(threadgroup float* t, threadgroup float4& v, thread float& o, thread float* p,
        device const float* d, constant float& c) {
  t[0] = 1;
  v = 2;
  o = 3;
  p[0] = c;
}
kernel void k(device float* f, constant float& c, uint i [[thread_position_in_grid]]) {
  threadgroup float t[32];
  threadgroup float4 v;
  threadgroup float tt[2][16];
  threadgroup struct {
    float a;
  } st;
  helper(t, i);
  float o, p[2];
  h2(t, v, o, p, f, c);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  f[i] = t[i] + v.x + o + p[0] + tt[0][1];
  threadgroup float* q = &t[3];
  f[0] = *q;
  threadgroup half hb[64], hc[8];
  hb[i] = hc[0];
  threadgroup uint cnt;
  if (i == 0) cnt = 0;
  st.a = 1;
  auto z = &tt[1];
  (*z)[0] = 1;
}
