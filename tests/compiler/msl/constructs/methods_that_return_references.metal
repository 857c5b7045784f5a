#include <metal_stdlib>
using namespace metal;

struct Img {
  device float* d;
  uint w;
  device float& at(uint x, uint y) { return d[y * w + x]; }
  device float& operator()(uint x) const { return d[x]; }
  device float* operator[](uint r) thread { return d + r * w; }
};
kernel void k(device float* f) {
  Img m{f, 4};
  m.at(1, 2) = 3;
  m(3) += 1;
  m[1][2] = 5;
}
