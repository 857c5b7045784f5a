#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  int a = n[0];
  uint b = u[0];
  n[1] = abs(a) + absdiff(a, 3) + addsat(a, a) + clamp(a, 0, 4) + clz(a) + ctz(a) +
         extract_bits(a, 2, 3) + hadd(a, a) + insert_bits(a, 3, 1, 2) + mad24(a, a, a) +
         madhi(a, a, a) + madsat(a, a, a) + max(a, 1) + max3(a, a, a) + median3(a, a, a) +
         min(a, 1) + min3(a, a, a) + mul24(a, a) + mulhi(a, a) + popcount(b) + reverse_bits(b) +
         rhadd(a, a) + rotate(b, 3u) + subsat(a, a);
  uint4 v(b);
  u[1] = popcount(v).x + clz(v).y + rotate(v, v).z + max(v, 3u).w + clamp(v, 0u, 4u).x;
  short s = 3;
  uchar c = 5;
  n[2] = max(s, short(2)) + popcount(c) + clz(s) + rotate(c, uchar(1));
}
