// Numbers to texels.
#pragma once
#include "texel_decode.h"

namespace metal {
// The nearest float of 5 bits of exponent and `mantissa` bits, without sign; ties to even.
__ASSAY_FN uint __small_real(float x, uint mantissa) {
  if (x != x) return (32u << mantissa) - 1u;
  if (!(x > 0.0f)) return 0u;
  int exponent = int(__builtin_bit_cast(uint, x) >> 23) - 127;
  exponent = exponent < -14 ? -14 : exponent > 16 ? 16 : exponent;
  float scale = __builtin_bit_cast(float, uint(int(mantissa) - exponent + 127) << 23);
  float bounded = __least(x, 131008.0f);
  uint bits = (uint(exponent + 14) << mantissa) + uint(__builtin_elementwise_roundeven(bounded * scale));
  uint infinity = 31u << mantissa;
  return bits < infinity ? bits : infinity;
}
__ASSAY_FN uint __real_bits(float x, uint width) {
  if (width == 32u) return __builtin_bit_cast(uint, x);
  if (width == 16u) return __builtin_bit_cast(ushort, (half)x);
  return __small_real(x, width - 5u);
}

// Three numbers of nine bits with one exponent, as EXT_texture_shared_exponent defines them.
template <class T> __ASSAY_FN uint __shared_exponent_bits(vec<T, 4> v) {
  float r = __least(__greatest((float)v.__v[0], 0.0f), 65408.0f);
  float g = __least(__greatest((float)v.__v[1], 0.0f), 65408.0f);
  float b = __least(__greatest((float)v.__v[2], 0.0f), 65408.0f);
  float most = __greatest(r, __greatest(g, b));
  int exponent = int(__builtin_bit_cast(uint, most) >> 23) - 127;
  exponent = (exponent < -16 ? -16 : exponent) + 16;
  float scale = __builtin_bit_cast(float, uint(24 - exponent + 127) << 23);
  if (__builtin_elementwise_floor(most * scale + 0.5f) == 512.0f) {
    exponent += 1;
    scale *= 0.5f;
  }
  return uint(__builtin_elementwise_floor(r * scale + 0.5f)) |
         uint(__builtin_elementwise_floor(g * scale + 0.5f)) << 9 |
         uint(__builtin_elementwise_floor(b * scale + 0.5f)) << 18 | uint(exponent) << 27;
}

template <class T>
__ASSAY_FN uint __encode_channel(T value, uint channel, __texel_kind kind, bool is_alpha) {
  uint mask = __channel_mask(channel);
  if constexpr (__is_real_texel<T>) {
    float x = (float)value;
    switch (kind) {
      case __texel_kind::snorm:
        return uint(int(__packing::scaled(x, -1.0f, float(mask >> 1)))) & mask;
      case __texel_kind::real: return __real_bits(x, __channel_width(channel));
      default:
        x = kind == __texel_kind::srgb && !is_alpha ? __packing::to_srgb(x) : x;
        return uint(__packing::scaled(x, 0.0f, float(mask)));
    }
  } else if (kind == __texel_kind::sint) {
    // Out of range is clamped.
    long wide = long(value), most = long(mask >> 1);
    return uint(wide < -most - 1 ? -most - 1 : wide > most ? most : wide) & mask;
  } else {
    long wide = long(value);
    return wide < 0 ? 0u : wide > long(mask) ? mask : uint(wide);
  }
}

template <class T>
__ASSAY_FN void __add_channel(__texel& t, T value, uint channel, __texel_kind kind, bool is_alpha) {
  if (__channel_width(channel) == 0u) return;
  uint first = channel & 255u;
  uint bits = __encode_channel<T>(value, channel, kind, is_alpha) << (first & 31u);
  t.a |= first < 32u ? bits : 0u;
  t.b |= first >= 32u && first < 64u ? bits : 0u;
  t.c |= first >= 64u && first < 96u ? bits : 0u;
  t.d |= first >= 96u ? bits : 0u;
}

// Writes a texel; outside of the texture nothing happens.
template <class T>
__ASSAY_FN void __write_texel(
    __texture_pointer d, uint level, uint x, uint y, uint image, vec<T, 4> v) {
  if (!__is_inside(d, level, x, y, image)) return;
  __texel_kind kind = d->kind;
  __texel t{0, 0, 0, 0};
  bool shared = false;
  if constexpr (__is_real_texel<T>) shared = kind == __texel_kind::shared_exponent;
  if (shared) {
    if constexpr (__is_real_texel<T>) t.a = __shared_exponent_bits(v);
  } else {
    __add_channel<T>(t, T(v.__v[0]), d->channel[0], kind, false);
    __add_channel<T>(t, T(v.__v[1]), d->channel[1], kind, false);
    __add_channel<T>(t, T(v.__v[2]), d->channel[2], kind, false);
    __add_channel<T>(t, T(v.__v[3]), d->channel[3], kind, true);
  }
  __store_texel(__texel_address(d, level, x, y, image), d->bytes, t);
}
}  // namespace metal
