#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float t[64];
  simdgroup_float8x8 a, b, c = simdgroup_float8x8(0);
  simdgroup_load(a, f);
  simdgroup_load(b, f, 16, ulong2(8, 8), true);
  simdgroup_load(b, t, 8);
  simdgroup_load(a, t, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(c, a, b, c);
  simdgroup_multiply(c, a, b);
  c = a * b;
  simdgroup_store(c, f, 8, ulong2(0, 0), true);
  simdgroup_store(c, t, 8);
  simdgroup_half8x8 hh = make_filled_simdgroup_matrix<half, 8, 8>(0.h);
  simdgroup_load(hh, h, 8);
  simdgroup_multiply_accumulate(c, hh, hh, c);
  simdgroup_matrix<bfloat, 8, 8> bb(0);
  c.thread_elements()[0] = 1;
  auto e = c.thread_elements();
  f[0] = e[1];
  simdgroup_float8x8 arr[2][2];
  arr[0][1] = make_diagonal_simdgroup_matrix<float, 8, 8>(1.0f);
  simdgroup_store(arr[0][1], f + 64, 8);
  thread auto& q = c.thread_elements();
  q[0] = 2;
  simdgroup_store(c, f, 8);
  simdgroup_load(a, (device const float*)f, 8, 0, false);
  simdgroup_load(a, f, 8, ulong2(1));
  float2 fe = float2(c.thread_elements()[0], c.thread_elements()[1]);
}
