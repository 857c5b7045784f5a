// What a texture is in memory: a description that the host writes, and the texels it points to.
#pragma once
#include "as_type.h"
#include "common.h"

namespace metal {
// One mipmap level: where it begins, bytes of a row, bytes of a slice or plane.
struct __texture_level { ulong offset, image; uint row, unused; };
constexpr int __most_levels = 15;

// How the bits of a channel stand for a number.
enum class __texel_kind : uint { unorm, snorm, uint_, sint, real, srgb, shared_exponent };

// As hal/metal/emulated/textures/layout.py writes it.
struct __texture_data {
  ulong texels;
  uint width, height, depth;
  uint array_length;
  uint levels;
  uint samples;
  uint bytes;
  __texel_kind kind;
  uint channel[4];  // first bit, and bits from bit 8 on; no bits: the channel is not there
  uint swizzle;     // four times eight bits: 0 zero, 1 one, 2 to 5 red to alpha
  uint faces;       // 6 for cubes, otherwise 1
  __texture_level level[__most_levels];
};
static_assert(sizeof(__texture_data) == 64 + 24 * __most_levels);

using __texture_pointer = const __ASSAY_CONSTANT __texture_data*;
constexpr uint __identity_swizzle = 0x05040302;

__ASSAY_FN uint __extent(uint size, uint level) {
  uint reduced = level < 32u ? size >> level : 0u;
  return reduced > 1u ? reduced : 1u;
}
// Slices of an array, faces of cubes, samples of a texel and planes lie one behind the other.
__ASSAY_FN uint __images(__texture_pointer d, uint level) {
  return d->depth > 1u ? __extent(d->depth, level) : d->array_length * d->faces * d->samples;
}
__ASSAY_FN ulong __texel_address(__texture_pointer d, uint level, uint x, uint y, uint image) {
  const __ASSAY_CONSTANT __texture_level& at = d->level[level];
  return d->texels + at.offset + ulong(image) * at.image + ulong(y) * at.row + ulong(x) * d->bytes;
}
__ASSAY_FN bool __is_inside(__texture_pointer d, uint level, uint x, uint y, uint image) {
  return level < d->levels && x < __extent(d->width, level) && y < __extent(d->height, level) &&
         image < __images(d, level);
}

// The bits of a texel, as up to four words.
struct __texel { uint a, b, c, d; };

__ASSAY_FN __texel __load_texel(ulong address, uint bytes) {
  switch (bytes) {
    case 1: return {*(__ASSAY_DEVICE uchar*)address, 0, 0, 0};
    case 2: return {*(__ASSAY_DEVICE ushort*)address, 0, 0, 0};
    case 4: return {*(__ASSAY_DEVICE uint*)address, 0, 0, 0};
    case 8: {
      __native<uint, 2> v = *(__ASSAY_DEVICE __native<uint, 2>*)address;
      return {v.x, v.y, 0, 0};
    }
    default: {
      __native<uint, 4> v = *(__ASSAY_DEVICE __native<uint, 4>*)address;
      return {v.x, v.y, v.z, v.w};
    }
  }
}
__ASSAY_FN void __store_texel(ulong address, uint bytes, __texel t) {
  switch (bytes) {
    case 1: *(__ASSAY_DEVICE uchar*)address = uchar(t.a); break;
    case 2: *(__ASSAY_DEVICE ushort*)address = ushort(t.a); break;
    case 4: *(__ASSAY_DEVICE uint*)address = t.a; break;
    case 8: *(__ASSAY_DEVICE __native<uint, 2>*)address = __native<uint, 2>{t.a, t.b}; break;
    default:
      *(__ASSAY_DEVICE __native<uint, 4>*)address = __native<uint, 4>{t.a, t.b, t.c, t.d};
  }
}

__ASSAY_FN uint __channel_width(uint channel) { return channel >> 8; }
__ASSAY_FN uint __channel_mask(uint channel) {
  return 0xffffffffu >> ((32u - __channel_width(channel)) & 31u);
}
__ASSAY_FN uint __channel_bits(__texel t, uint channel) {
  uint first = channel & 255u;
  uint word = first < 32u ? t.a : first < 64u ? t.b : first < 96u ? t.c : t.d;
  return (word >> (first & 31u)) & __channel_mask(channel);
}
__ASSAY_FN int __channel_signed(uint bits, uint channel) {
  uint up = (32u - __channel_width(channel)) & 31u;
  return int(bits << up) >> up;
}
}  // namespace metal
