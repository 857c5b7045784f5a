#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  static_assert(is_same_v<float, float>);
  static_assert(is_same<remove_pointer_t<float*>, float>::value);
  static_assert(is_floating_point_v<half> && is_integral<int>::value && is_arithmetic_v<float> &&
                is_signed_v<int> && is_unsigned<uint>::value);
  using T = conditional_t<true, float, int>;
  enable_if_t<true, int> q = 1;
  n[0] = q;
  T t = 1;
  f[0] = t;
  static_assert(is_same_v<make_unsigned_t<int>, uint>);
  static_assert(is_convertible_v<int, float>);
  integral_constant<int, 3> ic;
  n[1] = ic.value + true_type::value;
  static_assert(is_pointer_v<device float*>);
  static_assert(is_same_v<decay_t<const float&>, float>);
  static_assert(is_integral<int4>::value && is_floating_point_v<half2> && !is_integral_v<float3>);
}
