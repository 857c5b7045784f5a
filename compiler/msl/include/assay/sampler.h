// Samplers: one word that holds the whole state, so that a constexpr sampler costs nothing.
#pragma once
#include "traits.h"

namespace metal {
enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
// A mode that only the host can choose.
constexpr address __mirror_clamp_to_edge = address(5);
enum class s_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class t_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class r_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class filter { nearest, linear };
enum class mag_filter { nearest, linear };
enum class min_filter { nearest, linear };
enum class mip_filter { none, nearest, linear };
enum class border_color { transparent_black, opaque_black, opaque_white };
enum class compare_func { never, less, equal, less_equal, greater, not_equal, greater_equal, always };
struct max_anisotropy {
  int __value;
  __ASSAY_MEMBER constexpr explicit max_anisotropy(int value) : __value(value) {}
};
struct lod_clamp {
  float __least, __most;
  __ASSAY_MEMBER constexpr lod_clamp(float least, float most) : __least(least), __most(most) {}
};

// The fields by their first bit, as hal/metal/emulated/textures/sampler.py writes them.
struct sampler {
  ulong __bits;

  constexpr sampler() : __bits(__plain) {}
  template <class A, class... B>
    requires(!__is_same(__bare_t<A>, sampler))
  __ASSAY_MEMBER constexpr sampler(A first, B... rest) : __bits(__plain) {
    __set(first);
    (__set(rest), ...);
  }

  static constexpr ulong __infinity = 0x7c00;
  // Normalized coordinates, clamped to the edge, nearest, no mipmaps, all levels.
  static constexpr ulong __plain = 1ul | 1ul << 3 | 1ul << 6 | __infinity << 48;
  __ASSAY_MEMBER constexpr void __put(int first, int width, ulong value) {
    __bits = (__bits & ~(((1ul << width) - 1ul) << first)) | value << first;
  }
  __ASSAY_MEMBER constexpr void __set(s_address a) { __put(0, 3, ulong(a)); }
  __ASSAY_MEMBER constexpr void __set(t_address a) { __put(3, 3, ulong(a)); }
  __ASSAY_MEMBER constexpr void __set(r_address a) { __put(6, 3, ulong(a)); }
  __ASSAY_MEMBER constexpr void __set(address a) {
    __set(s_address(a)); __set(t_address(a)); __set(r_address(a));
  }
  __ASSAY_MEMBER constexpr void __set(mag_filter f) { __put(9, 1, f != mag_filter::nearest); }
  __ASSAY_MEMBER constexpr void __set(min_filter f) { __put(10, 1, f != min_filter::nearest); }
  __ASSAY_MEMBER constexpr void __set(filter f) { __set(mag_filter(f)); __set(min_filter(f)); }
  __ASSAY_MEMBER constexpr void __set(mip_filter f) { __put(11, 2, ulong(f)); }
  __ASSAY_MEMBER constexpr void __set(coord c) { __put(13, 1, c == coord::pixel); }
  __ASSAY_MEMBER constexpr void __set(border_color c) { __put(14, 2, ulong(c)); }
  __ASSAY_MEMBER constexpr void __set(compare_func f) { __put(16, 3, ulong(f)); }
  __ASSAY_MEMBER constexpr void __set(max_anisotropy a) { __put(21, 5, ulong(a.__value)); }
  __ASSAY_MEMBER constexpr void __set(lod_clamp c) {
    __put(32, 16, __half_bits(c.__least));
    __put(48, 16, __half_bits(c.__most));
  }
  __ASSAY_MEMBER static constexpr ulong __half_bits(float x) {
    return x >= 65520.0f ? __infinity : ulong(__builtin_bit_cast(ushort, (half)x));
  }

  __ASSAY_MEMBER constexpr uint __get(int first, int width) const {
    return uint(__bits >> first) & ((1u << width) - 1u);
  }
  __ASSAY_MEMBER constexpr address __address(int axis) const { return address(__get(3 * axis, 3)); }
  __ASSAY_MEMBER constexpr bool __mag_linear() const { return __get(9, 1); }
  __ASSAY_MEMBER constexpr bool __min_linear() const { return __get(10, 1); }
  __ASSAY_MEMBER constexpr mip_filter __mip() const { return mip_filter(__get(11, 2)); }
  __ASSAY_MEMBER constexpr bool __pixel() const { return __get(13, 1); }
  __ASSAY_MEMBER constexpr border_color __border() const { return border_color(__get(14, 2)); }
  __ASSAY_MEMBER constexpr compare_func __compare() const { return compare_func(__get(16, 3)); }
  __ASSAY_MEMBER constexpr float __least_level() const {
    return (float)__builtin_bit_cast(half, ushort(__bits >> 32));
  }
  __ASSAY_MEMBER constexpr float __most_level() const {
    return (float)__builtin_bit_cast(half, ushort(__bits >> 48));
  }
};
static_assert(sizeof(sampler) == 8);
}  // namespace metal
