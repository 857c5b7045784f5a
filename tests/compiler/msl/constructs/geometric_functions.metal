#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float3 a = f[0], b = f[1];
  f[2] = dot(a, b) + length(a) + length_squared(a) + distance(a, b) + distance_squared(a, b) +
         cross(a, b).x + normalize(a).y + reflect(a, b).z + refract(a, b, 0.5f).x +
         faceforward(a, b, a).x;
  half3 c = half3(a);
  h[0] = dot(c, c) + length(c);
}
