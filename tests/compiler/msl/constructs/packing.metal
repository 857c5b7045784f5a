#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  u[0] = pack_float_to_unorm4x8(float4(1)) + pack_float_to_snorm4x8(float4(1)) +
         pack_float_to_srgb_unorm4x8(float4(1)) + pack_float_to_unorm2x16(float2(1)) +
         pack_float_to_snorm2x16(float2(1)) + pack_float_to_unorm10a2(float4(1)) +
         pack_float_to_unorm565(float3(1)) + pack_half_to_unorm4x8(half4(1)) +
         pack_half_to_snorm4x8(half4(1)) + pack_half_to_srgb_unorm4x8(half4(1)) +
         pack_half_to_unorm2x16(half2(1)) + pack_half_to_snorm2x16(half2(1)) +
         pack_half_to_unorm10a2(half4(1)) + pack_half_to_unorm565(half3(1));
  f[0] = unpack_unorm4x8_to_float(u[0]).x + unpack_snorm4x8_to_float(u[0]).y +
         unpack_unorm4x8_srgb_to_float(u[0]).x + unpack_unorm2x16_to_float(u[0]).x +
         unpack_snorm2x16_to_float(u[0]).x + unpack_unorm10a2_to_float(u[0]).x +
         unpack_unorm565_to_float(ushort(u[0])).x + unpack_unorm4x8_to_half(u[0]).x +
         unpack_snorm4x8_to_half(u[0]).x + unpack_unorm4x8_srgb_to_half(u[0]).x +
         unpack_unorm2x16_to_half(u[0]).x + unpack_snorm2x16_to_half(u[0]).x +
         unpack_unorm10a2_to_half(u[0]).x + unpack_unorm565_to_half(ushort(u[0])).x;
}
