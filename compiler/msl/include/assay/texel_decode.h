// Texels to numbers: what a pixel format's bits mean.
#pragma once
#include "pack.h"
#include "texture_data.h"

namespace metal {
template <class T> constexpr bool __is_real_texel = __is_same(T, float) || __is_same(T, half);

// A float of 32 or 16 bits, or one of 11 or 10 without a sign.
__ASSAY_FN float __real_from(uint bits, uint width) {
  if (width == 32u) return __builtin_bit_cast(float, bits);
  uint up = width == 16u ? 0u : 15u - width;
  return (float)__builtin_bit_cast(half, ushort(bits << up));
}

template <class T>
__ASSAY_FN T __decode_channel(__texel t, uint channel, __texel_kind kind, bool is_alpha) {
  uint bits = __channel_bits(t, channel);
  if (__channel_width(channel) == 0u) return is_alpha ? T(1) : T(0);
  if constexpr (__is_real_texel<T>) {
    switch (kind) {
      case __texel_kind::snorm: {
        float most = float(__channel_mask(channel) >> 1);
        return T(__greatest(float(__channel_signed(bits, channel)) / most, -1.0f));
      }
      case __texel_kind::real: return T(__real_from(bits, __channel_width(channel)));
      case __texel_kind::shared_exponent:
        return T(float(bits) * __builtin_bit_cast(float, ((t.a >> 27) + 103u) << 23));
      default: {
        float x = float(bits) / float(__channel_mask(channel));
        return T(kind == __texel_kind::srgb && !is_alpha ? __packing::from_srgb(x) : x);
      }
    }
  } else {
    return kind == __texel_kind::sint ? T(__channel_signed(bits, channel)) : T(bits);
  }
}

template <class T>
__ASSAY_FN T __selected(vec<T, 4> v, uint which) {
  return which == 0u ? T(0) : which == 1u ? T(1) : which == 2u ? T(v.__v[0])
       : which == 3u ? T(v.__v[1]) : which == 4u ? T(v.__v[2]) : T(v.__v[3]);
}

// The texel at a place that is inside the texture.
template <class T>
__ASSAY_FN vec<T, 4> __fetch(__texture_pointer d, uint level, uint x, uint y, uint image) {
  __texel t = __load_texel(__texel_address(d, level, x, y, image), d->bytes);
  __texel_kind kind = d->kind;
  vec<T, 4> v(__decode_channel<T>(t, d->channel[0], kind, false),
              __decode_channel<T>(t, d->channel[1], kind, false),
              __decode_channel<T>(t, d->channel[2], kind, false),
              __decode_channel<T>(t, d->channel[3], kind, true));
  uint s = d->swizzle;
  if (s == __identity_swizzle) return v;
  return vec<T, 4>(__selected(v, s & 255u), __selected(v, (s >> 8) & 255u),
                   __selected(v, (s >> 16) & 255u), __selected(v, s >> 24));
}

// The texel, or zeros outside.
template <class T>
__ASSAY_FN vec<T, 4> __read_texel(__texture_pointer d, uint level, uint x, uint y, uint image) {
  if (!__is_inside(d, level, x, y, image)) return vec<T, 4>(T(0));
  return __fetch<T>(d, level, x, y, image);
}
}  // namespace metal
