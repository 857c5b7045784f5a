#include <metal_stdlib>
using namespace metal;

enum class E : uint { a, b = 4 };
enum { Z = 3 };
kernel void k(device int* n, uint i [[thread_position_in_grid]]) {
  E e = E(n[0]);
  switch (e) {
    case E::a:
      n[1] = 1;
      break;
    case E::b:
      n[1] = 2;
    default:
      n[2] = Z;
  }
  do {
    n[0]--;
  } while (n[0] > 0);
  int a[3][4] = {};
  for (auto& r : a)
    for (int x : r) n[3] += x;
  goto end;
end:
  n[4] = 1;
  union {
    float f;
    uint u;
  } q;
  q.f = 1;
  n[5] = q.u;
  struct {
    int a, b;
  } an = {1, 2};
  n[6] = an.a;
  thread int* p = &a[1][2];
  *p = 3;
  n[7] = a[1][2];
  bool b = n[0] && n[1] || !n[2];
  n[8] = b ? 1 : 0;
  n[9] = sizeof(float4) + alignof(half4);
  auto [x, y] = an;
  n[10] = x + y;
}
