#include <metal_stdlib>
using namespace metal;

struct complex64_t {
  float real, imag;
  constexpr complex64_t(float r, float i) : real(r), imag(i) {}
  constexpr complex64_t() : real(0), imag(0) {}
  template <typename T, typename = enable_if_t<is_convertible_v<T, float>>>
  constexpr complex64_t(T x) thread : real(x), imag(0) {}
  template <typename T, typename = enable_if_t<is_convertible_v<T, float>>>
  constexpr complex64_t(T x) constant : real(x), imag(0) {}
  constexpr operator float() const thread { return real; }
  constexpr operator float() const device { return real; }
};
constexpr complex64_t operator+(complex64_t a, complex64_t b) {
  return {a.real + b.real, a.imag + b.imag};
}
kernel void k(device complex64_t* a, const device complex64_t* b,
              uint i [[thread_position_in_grid]]) {
  a[i] = a[i] + b[i] + complex64_t(1, 2);
  threadgroup complex64_t t[8];
  t[i] = a[i];
  a[i] = t[i];
}
