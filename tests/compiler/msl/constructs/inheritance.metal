#include <metal_stdlib>
using namespace metal;

struct Base {
  float a;
  float get() const { return a; }
};
struct D : Base {
  float b;
};
template <typename T>
struct CR {
  T self() { return T(1); }
};
struct E : CR<float> {};
kernel void k(device float* f) {
  D d;
  d.a = 1;
  d.b = 2;
  f[0] = d.get() + E().self();
}
