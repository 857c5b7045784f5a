#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  metal::float4 a(1);
  metal::uint3 b(2);
  metal::half2 c(3);
  metal::size_t s = 3;
  f[0] = a.x + b.y + c.x + s;
  metal::ushort q = 1;
  metal::int8_t z = 1;
  metal::array<float, 2> ar;
  ar[0] = 1;
  f[1] = ar[0];
  metal::vec<float, 4> v(1);
  metal::atomic_uint* p;
  metal::simdgroup_float8x8 m;
  metal::bool4 bb;
  metal::packed_float3 pf;
  metal::float3x3 fm(1);
  metal::uint64_t u6 = 1;
  f[2] = fm[0][0] + u6;
  metal::ptrdiff_t pd = 1;
  metal::uchar4 uu(1);
}
