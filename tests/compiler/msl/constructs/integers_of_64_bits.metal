#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  long a = n[0];
  ulong b = u[0];
  a = a * 1234567890123L + (long)b;
  b = mulhi(b, 0x123456789abcdefUL);
  u[0] = uint(b >> 32) + uint(a) + popcount(b) + clz(b);
  long2 v(a);
  ulong4 w(b);
  u[1] = uint(v.x + (long)w.y);
  int64_t x = a;
  uint64_t y = b;
  u[2] = uint(x ^ y);
}
