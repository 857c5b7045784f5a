#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float x = f[0];
  f[1] = fast::exp(x) + precise::exp(x) + fast::sin(x) + precise::sqrt(x) +
         metal::precise::tanh(x) + metal::fast::pow(x, x) + fast::max(x, x) +
         precise::divide(x, x) + fast::log2(x) + precise::rsqrt(x) + fast::normalize(float3(x)).x +
         fast::length(float2(x)) + fast::distance(float2(x), float2(1)) +
         precise::clamp(x, 0.f, 1.f) + fast::fma(x, x, x) + precise::atan2(x, x) +
         fast::clamp(x, 0.f, 1.f) + fast::fmin(x, x) + fast::saturate(x) + fast::mix(x, x, x) +
         precise::fmod(x, x) + precise::log10(x) + fast::tan(x) + fast::dot(float2(x), float2(x));
}
