#include <metal_stdlib>
using namespace metal;

[[host_name("named")]] kernel void k(device float* f) {
  f[0] = 1;
}
extern "C" kernel void k2(device float* f) {
  f[0] = 1;
}
static inline float foo(float x) {
  return x;
}
namespace ns {
kernel void k3(device float* f) {
  f[0] = foo(1);
}
template <typename T>
kernel void k4(device T* f) {
  f[0] = 1;
}
template [[host_name("k4_f")]] kernel void k4<float>(device float*);
}  // namespace ns
template [[host_name("k4_h")]] kernel void ns::k4<half>(device half*);
