// Numbers packed into words, and back.
#pragma once
#include "as_type.h"
#include "common.h"
#include "math_pow.h"

namespace metal {
namespace __packing {
// Scaled to an integer: out of range is clamped, NaN becomes 0, halves round to even.
__ASSAY_FN constexpr float scaled(float x, float least, float factor) {
  float bounded = x != x ? 0.0f : __least(__greatest(x, least), 1.0f);
  return __builtin_elementwise_roundeven(bounded * factor);
}
template <int N, class V> __ASSAY_FN constexpr uint join(V v, bool is_signed) {
  constexpr int width = 32 / N;
  constexpr uint mask = (width == 32 ? 0u : (1u << width)) - 1u;
  float factor = is_signed ? float((1u << (width - 1)) - 1u) : float(mask);
  uint word = 0;
  for (int i = 0; i < N; ++i) {
    uint part = uint(int(scaled((float)v.__v[i], is_signed ? -1.0f : 0.0f, factor))) & mask;
    word |= part << (i * width);
  }
  return word;
}
template <int N, class T> __ASSAY_FN constexpr vec<T, N> split(uint word, bool is_signed) {
  constexpr int width = 32 / N;
  vec<T, N> v;
  for (int i = 0; i < N; ++i) {
    uint up = word << (32 - width * (i + 1));
    float value;
    if (is_signed) {
      value = __greatest(float(int(up) >> (32 - width)) / float((1u << (width - 1)) - 1u), -1.0f);
    } else {
      value = float(up >> (32 - width)) / float((1u << width) - 1u);
    }
    v.__v[i] = (T)value;
  }
  return v;
}
// sRGB, by its two pieces.
__ASSAY_FN float to_srgb(float x) {
  float bounded = x != x ? 0.0f : __least(__greatest(x, 0.0f), 1.0f);
  return bounded < 0.0031308f ? 12.92f * bounded : 1.055f * pow(bounded, 1.0f / 2.4f) - 0.055f;
}
__ASSAY_FN float from_srgb(float x) {
  return x <= 0.04045f ? x / 12.92f : pow((x + 0.055f) / 1.055f, 2.4f);
}
}  // namespace __packing

template <class T> __ASSAY_FN uint pack_float_to_unorm4x8(vec<T, 4> v) { return __packing::join<4>(v, false); }
template <class T> __ASSAY_FN uint pack_float_to_snorm4x8(vec<T, 4> v) { return __packing::join<4>(v, true); }
template <class T> __ASSAY_FN uint pack_float_to_unorm2x16(vec<T, 2> v) { return __packing::join<2>(v, false); }
template <class T> __ASSAY_FN uint pack_float_to_snorm2x16(vec<T, 2> v) { return __packing::join<2>(v, true); }
template <class T> __ASSAY_FN uint pack_half_to_unorm4x8(vec<T, 4> v) { return __packing::join<4>(v, false); }
template <class T> __ASSAY_FN uint pack_half_to_snorm4x8(vec<T, 4> v) { return __packing::join<4>(v, true); }
template <class T> __ASSAY_FN uint pack_half_to_unorm2x16(vec<T, 2> v) { return __packing::join<2>(v, false); }
template <class T> __ASSAY_FN uint pack_half_to_snorm2x16(vec<T, 2> v) { return __packing::join<2>(v, true); }
__ASSAY_FN vec<float, 4> unpack_unorm4x8_to_float(uint w) { return __packing::split<4, float>(w, false); }
__ASSAY_FN vec<float, 4> unpack_snorm4x8_to_float(uint w) { return __packing::split<4, float>(w, true); }
__ASSAY_FN vec<float, 2> unpack_unorm2x16_to_float(uint w) { return __packing::split<2, float>(w, false); }
__ASSAY_FN vec<float, 2> unpack_snorm2x16_to_float(uint w) { return __packing::split<2, float>(w, true); }
__ASSAY_FN vec<half, 4> unpack_unorm4x8_to_half(uint w) { return __packing::split<4, half>(w, false); }
__ASSAY_FN vec<half, 4> unpack_snorm4x8_to_half(uint w) { return __packing::split<4, half>(w, true); }
__ASSAY_FN vec<half, 2> unpack_unorm2x16_to_half(uint w) { return __packing::split<2, half>(w, false); }
__ASSAY_FN vec<half, 2> unpack_snorm2x16_to_half(uint w) { return __packing::split<2, half>(w, true); }

template <class T> __ASSAY_FN uint pack_float_to_srgb_unorm4x8(vec<T, 4> v) {
  return __packing::join<4>(vec<float, 4>(__packing::to_srgb(v.__v[0]), __packing::to_srgb(v.__v[1]),
                                          __packing::to_srgb(v.__v[2]), (float)v.__v[3]), false);
}
template <class T> __ASSAY_FN uint pack_half_to_srgb_unorm4x8(vec<T, 4> v) {
  return pack_float_to_srgb_unorm4x8(vec<float, 4>(v));
}
__ASSAY_FN vec<float, 4> unpack_unorm4x8_srgb_to_float(uint w) {
  vec<float, 4> v = unpack_unorm4x8_to_float(w);
  return vec<float, 4>(__packing::from_srgb(v.__v[0]), __packing::from_srgb(v.__v[1]),
                       __packing::from_srgb(v.__v[2]), (float)v.__v[3]);
}
__ASSAY_FN vec<half, 4> unpack_unorm4x8_srgb_to_half(uint w) {
  return vec<half, 4>(unpack_unorm4x8_srgb_to_float(w));
}
// Fields of 10, 10, 10 and 2 bits, and of 5, 6 and 5.
template <class T> __ASSAY_FN uint pack_float_to_unorm10a2(vec<T, 4> v) {
  return uint(__packing::scaled(v.__v[0], 0.0f, 1023.0f)) | uint(__packing::scaled(v.__v[1], 0.0f, 1023.0f)) << 10 |
         uint(__packing::scaled(v.__v[2], 0.0f, 1023.0f)) << 20 | uint(__packing::scaled(v.__v[3], 0.0f, 3.0f)) << 30;
}
__ASSAY_FN vec<float, 4> unpack_unorm10a2_to_float(uint w) {
  return vec<float, 4>(float(w & 1023u) / 1023.0f, float((w >> 10) & 1023u) / 1023.0f,
                       float((w >> 20) & 1023u) / 1023.0f, float(w >> 30) / 3.0f);
}
template <class T> __ASSAY_FN ushort pack_float_to_unorm565(vec<T, 3> v) {
  return ushort(uint(__packing::scaled(v.__v[0], 0.0f, 31.0f)) | uint(__packing::scaled(v.__v[1], 0.0f, 63.0f)) << 5 |
                uint(__packing::scaled(v.__v[2], 0.0f, 31.0f)) << 11);
}
__ASSAY_FN vec<float, 3> unpack_unorm565_to_float(ushort w) {
  return vec<float, 3>(float(w & 31u) / 31.0f, float((w >> 5) & 63u) / 63.0f, float(w >> 11) / 31.0f);
}
template <class T> __ASSAY_FN uint pack_half_to_unorm10a2(vec<T, 4> v) { return pack_float_to_unorm10a2(v); }
template <class T> __ASSAY_FN ushort pack_half_to_unorm565(vec<T, 3> v) { return pack_float_to_unorm565(v); }
__ASSAY_FN vec<half, 4> unpack_unorm10a2_to_half(uint w) { return vec<half, 4>(unpack_unorm10a2_to_float(w)); }
__ASSAY_FN vec<half, 3> unpack_unorm565_to_half(ushort w) { return vec<half, 3>(unpack_unorm565_to_float(w)); }
}  // namespace metal
