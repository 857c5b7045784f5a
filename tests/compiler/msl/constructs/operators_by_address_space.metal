#include <metal_stdlib>
using namespace metal;

struct C {
  float x, y;
  C() = default;
  C(float a, float b) thread : x(a), y(b) {}
  C(device const C& o) thread : x(o.x), y(o.y) {}
  C operator+(C o) const thread { return C(x + o.x, y + o.y); }
  C operator+(C o) const device { return C(x + o.x, y + o.y); }
  C operator+(C o) const constant { return C(x + o.x, y + o.y); }
  device C& operator+=(C o) device {
    x += o.x;
    y += o.y;
    return *this;
  }
  thread C& operator+=(C o) thread {
    x += o.x;
    return *this;
  }
  operator float() const thread { return x; }
  operator float() const device { return y; }
};
C operator*(C a, float b) {
  return C(a.x * b, a.y);
}
kernel void k(device C* c, constant C& d, uint i [[thread_position_in_grid]]) {
  C a(1, 2);
  a += a;
  c[i] += a * 2.0f;
  c[i] = c[i] + a;
  c[0] = d + a;
  c[1].x = float(c[0]) + float(a);
}
