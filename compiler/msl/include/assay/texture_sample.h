// Sampling: addressing, filtering, choice of the mipmap level.
//
// Weights are floats, where hardware has some eight bits of them. Anisotropy is not modelled.
#pragma once
#include "math_exp.h"
#include "sampler.h"
#include "texel_decode.h"

namespace metal {
// What says from which level to sample. Kernels have no derivatives: without one it is level 0.
struct level {
  float __value;
  __ASSAY_MEMBER constexpr explicit level(float value) : __value(value) {}
};
struct bias {
  float __value;
  __ASSAY_MEMBER constexpr explicit bias(float value) : __value(value) {}
};
struct min_lod_clamp {
  float __value;
  __ASSAY_MEMBER constexpr explicit min_lod_clamp(float value) : __value(value) {}
};
#define __ASSAY_GRADIENT(name, N)                                                                 \
  struct name {                                                                                   \
    vec<float, N> __dx, __dy;                                                                     \
    __ASSAY_MEMBER constexpr name(vec<float, N> dx, vec<float, N> dy) : __dx(dx), __dy(dy) {}     \
  };
__ASSAY_GRADIENT(gradient2d, 2)
__ASSAY_GRADIENT(gradient3d, 3)
__ASSAY_GRADIENT(gradientcube, 3)
#undef __ASSAY_GRADIENT
enum class component { x, y, z, w };

// A place to sample: coordinates, and the first image (slice or face) that they are in.
struct __place { float c[3]; int offset[3]; uint image; };
// Along one axis: the texels on both sides, whether they exist, the second one's weight, and the
// first one's number before addressing.
struct __axis { uint first, second; bool has_first, has_second; float weight; int plain; };

__ASSAY_FN int __modulo(int i, int n) {
  int rest = i % n;
  return rest < 0 ? rest + n : rest;
}
__ASSAY_FN uint __addressed(int i, int size, address mode) {
  if (mode == address::repeat) return uint(__modulo(i, size));
  if (mode == address::mirrored_repeat) {
    int folded = __modulo(i, 2 * size);
    return uint(folded < size ? folded : 2 * size - 1 - folded);
  }
  if (mode == __mirror_clamp_to_edge) i = i < 0 ? -1 - i : i;
  return uint(i < 0 ? 0 : i >= size ? size - 1 : i);
}
__ASSAY_FN bool __exists(int i, int size, address mode) {
  return (mode != address::clamp_to_zero && mode != address::clamp_to_border) || (i >= 0 && i < size);
}
__ASSAY_FN __axis __along(float c, int offset, uint extent, sampler s, int axis, bool linear) {
  address mode = s.__address(axis);
  int size = int(extent);
  if (mode == address::repeat && !s.__pixel()) c -= __builtin_elementwise_floor(c);
  float u = s.__pixel() ? c : c * float(size);
  u = __least(__greatest(u, -1e9f), 1e9f) - (linear ? 0.5f : 0.0f);
  float whole = __builtin_elementwise_floor(u);
  int i = int(whole) + offset;
  return {__addressed(i, size, mode), __addressed(i + 1, size, mode), __exists(i, size, mode),
          __exists(i + 1, size, mode), u - whole, i};
}

// What clamp_to_zero and clamp_to_border give outside.
__ASSAY_FN vec<float, 4> __outside(__texture_pointer d, sampler s, bool zero) {
  if (zero) return vec<float, 4>(0.0f, 0.0f, 0.0f, __channel_width(d->channel[3]) ? 0.0f : 1.0f);
  border_color color = s.__border();
  float rgb = color == border_color::opaque_white ? 1.0f : 0.0f;
  return vec<float, 4>(rgb, rgb, rgb, color == border_color::transparent_black ? 0.0f : 1.0f);
}

template <int D> struct __footprint {
  __axis axes[D];
  bool zero;  // whether outside means zero, by the first axis
};
template <int D>
__ASSAY_FN __footprint<D> __find(
    __texture_pointer d, sampler s, const __place& at, uint level, bool linear) {
  __footprint<D> f;
  f.axes[0] = __along(at.c[0], at.offset[0], __extent(d->width, level), s, 0, linear);
  if constexpr (D > 1)
    f.axes[1] = __along(at.c[1], at.offset[1], __extent(d->height, level), s, 1, linear);
  if constexpr (D > 2)
    f.axes[2] = __along(at.c[2], at.offset[2], __extent(d->depth, level), s, 2, linear);
  f.zero = s.__address(0) == address::clamp_to_zero;
  return f;
}
// Texel number `corner` of the footprint: bit 0 is x, bit 1 is y, bit 2 is z.
template <class T, int D>
__ASSAY_FN vec<T, 4> __flat_corner(__texture_pointer d, sampler s, const __footprint<D>& f,
                                   uint level, uint image, uint corner) {
  uint x = corner & 1u ? f.axes[0].second : f.axes[0].first, y = 0;
  bool inside = corner & 1u ? f.axes[0].has_second : f.axes[0].has_first;
  if constexpr (D > 1) {
    y = corner & 2u ? f.axes[1].second : f.axes[1].first;
    inside = inside && (corner & 2u ? f.axes[1].has_second : f.axes[1].has_first);
  }
  if constexpr (D > 2) {
    image = corner & 4u ? f.axes[2].second : f.axes[2].first;
    inside = inside && (corner & 4u ? f.axes[2].has_second : f.axes[2].has_first);
  }
  vec<T, 4> v = __fetch<T>(d, level, x, y, image);
  if (!inside) v = vec<T, 4>(__outside(d, s, f.zero));
  return v;
}
template <int D> __ASSAY_FN float __weight(const __footprint<D>& f, uint corner) {
  float weight = corner & 1u ? f.axes[0].weight : 1.0f - f.axes[0].weight;
  if constexpr (D > 1) weight *= corner & 2u ? f.axes[1].weight : 1.0f - f.axes[1].weight;
  if constexpr (D > 2) weight *= corner & 4u ? f.axes[2].weight : 1.0f - f.axes[2].weight;
  return weight;
}

// The face of a cube that a direction points to, and where on it (0 to 1).
struct __on_face { uint face; float s, t; };
__ASSAY_FN __on_face __face_of(vec<float, 3> v) {
  float x = v.__v[0], y = v.__v[1], z = v.__v[2];
  float ax = __builtin_elementwise_abs(x), ay = __builtin_elementwise_abs(y);
  float az = __builtin_elementwise_abs(z);
  bool is_x = ax >= ay && ax >= az, is_y = !is_x && ay >= az;
  float along = is_x ? x : is_y ? y : z;
  float most = is_x ? ax : is_y ? ay : az;
  bool negative = along < 0.0f;
  float s = is_x ? (negative ? z : -z) : is_y ? x : (negative ? -x : x);
  float t = is_y ? (negative ? -z : z) : -y;
  uint face = (is_x ? 0u : is_y ? 2u : 4u) + (negative ? 1u : 0u);
  return {face, 0.5f * (s / most + 1.0f), 0.5f * (t / most + 1.0f)};
}
// The direction to a place on a face, which may lie beyond the face's edge.
__ASSAY_FN vec<float, 3> __direction(uint face, float s, float t) {
  float sc = 2.0f * s - 1.0f, tc = 2.0f * t - 1.0f;
  switch (face) {
    case 0: return vec<float, 3>(1.0f, -tc, -sc);
    case 1: return vec<float, 3>(-1.0f, -tc, sc);
    case 2: return vec<float, 3>(sc, 1.0f, tc);
    case 3: return vec<float, 3>(sc, -1.0f, -tc);
    case 4: return vec<float, 3>(sc, -tc, 1.0f);
    default: return vec<float, 3>(-sc, -tc, -1.0f);
  }
}
// A texel of the footprint on a cube: beyond an edge it is the nearest one of the next face.
template <class T>
__ASSAY_FN vec<T, 4> __cube_corner(
    __texture_pointer d, const __footprint<2>& f, uint level, uint image, uint corner) {
  int size = int(__extent(d->width, level));
  int x = f.axes[0].plain + int(corner & 1u), y = f.axes[1].plain + int(corner >> 1);
  uint face = image % 6u;
  if (x < 0 || x >= size || y < 0 || y >= size) {
    float scale = 1.0f / float(size);
    __on_face next = __face_of(
        __direction(face, (float(x) + 0.5f) * scale, (float(y) + 0.5f) * scale));
    image = image - face + next.face;
    x = int(next.s * float(size));
    y = int(next.t * float(size));
    x = x < 0 ? 0 : x >= size ? size - 1 : x;
    y = y < 0 ? 0 : y >= size ? size - 1 : y;
  }
  return __fetch<T>(d, level, uint(x), uint(y), image);
}

// One to three dimensions, or two on the faces of a cube.
constexpr int __cube = 6;
constexpr int __axes_of(int D) { return D == __cube ? 2 : D; }
template <class T, int D>
__ASSAY_FN vec<T, 4> __corner(__texture_pointer d, sampler s, const __footprint<__axes_of(D)>& f,
                              uint level, uint image, uint corner) {
  if constexpr (D == __cube) {
    return __cube_corner<T>(d, f, level, image, corner);
  } else {
    return __flat_corner<T, D>(d, s, f, level, image, corner);
  }
}

// Which levels, how much of the second, and whether between texels.
struct __levels { uint first, second; float weight; bool linear; };
__ASSAY_FN __levels __levels_at(__texture_pointer d, sampler s, float lod) {
  lod = __least(__greatest(lod, s.__least_level()), s.__most_level());
  __levels found{0, 0, 0.0f, lod <= 0.0f ? s.__mag_linear() : s.__min_linear()};
  mip_filter mip = s.__mip();
  if (mip == mip_filter::none) return found;
  float last = float(d->levels - 1u);
  lod = __least(__greatest(lod, 0.0f), last);
  if (mip == mip_filter::nearest) {
    found.first = found.second = uint(__builtin_elementwise_floor(lod + 0.5f));
    return found;
  }
  float whole = __builtin_elementwise_floor(lod);
  found.first = uint(whole);
  found.second = uint(__least(whole + 1.0f, last));
  found.weight = lod - whole;
  return found;
}

__ASSAY_FN float __lod_of(__texture_pointer, level l) { return l.__value; }
__ASSAY_FN float __lod_of(__texture_pointer, bias b) { return b.__value; }
__ASSAY_FN float __lod_of(__texture_pointer, min_lod_clamp c) { return __greatest(c.__value, 0.0f); }
__ASSAY_FN float __steepest(float dx, float dy) {
  return 0.5f * metal::log2(__greatest(__greatest(dx, dy), 1e-30f));
}
__ASSAY_FN float __lod_of(__texture_pointer d, gradient2d g) {
  float w = float(d->width), h = float(d->height);
  float a = g.__dx.__v[0] * w, b = g.__dx.__v[1] * h, e = g.__dy.__v[0] * w, f = g.__dy.__v[1] * h;
  return __steepest(a * a + b * b, e * e + f * f);
}
__ASSAY_FN float __lod_of(__texture_pointer d, gradient3d g) {
  float w = float(d->width), h = float(d->height), p = float(d->depth);
  float a = g.__dx.__v[0] * w, b = g.__dx.__v[1] * h, c = g.__dx.__v[2] * p;
  float e = g.__dy.__v[0] * w, f = g.__dy.__v[1] * h, i = g.__dy.__v[2] * p;
  return __steepest(a * a + b * b + c * c, e * e + f * f + i * i);
}
// A face is two units wide.
__ASSAY_FN float __lod_of(__texture_pointer d, gradientcube g) {
  float half_width = 0.5f * float(d->width);
  __native<float, 3> dx = g.__dx.__v * half_width, dy = g.__dy.__v * half_width;
  return __steepest(dx.x * dx.x + dx.y * dx.y + dx.z * dx.z, dy.x * dy.x + dy.y * dy.y + dy.z * dy.z);
}
template <class L> __ASSAY_FN float __lod_of(__texture_pointer d, L lod, min_lod_clamp least) {
  return __greatest(__lod_of(d, lod), least.__value);
}

// One level, filtered; `Read` makes numbers of a texel: (level, footprint, corner) to vec<float, 4>.
template <class T, int D, class Read>
__ASSAY_FN vec<float, 4> __filtered(__texture_pointer d, sampler s, const __place& at,
                                    const __levels& levels, Read read) {
  __native<float, 4> sum = 0.0f;
  uint rounds = levels.weight == 0.0f ? 1u : 2u;
#pragma clang loop unroll(disable)
  for (uint round = 0; round < rounds; ++round) {
    uint level = round ? levels.second : levels.first;
    float share = round ? levels.weight : 1.0f - levels.weight;
    __footprint<__axes_of(D)> f = __find<__axes_of(D)>(d, s, at, level, levels.linear);
    uint corners = levels.linear ? 1u << __axes_of(D) : 1u;
#pragma clang loop unroll(disable)
    for (uint corner = 0; corner < corners; ++corner) {
      float weight = levels.linear ? __weight<__axes_of(D)>(f, corner) : 1.0f;
      sum += read(level, f, corner).__v * (weight * share);
    }
  }
  return vec<float, 4>::__from(sum);
}

template <class T, int D>
__ASSAY_FN vec<T, 4> __sample(__texture_pointer d, sampler s, const __place& at, float lod) {
  __levels levels = __levels_at(d, s, lod);
  if constexpr (__is_real_texel<T>) {
    auto read = [&](uint level, const __footprint<__axes_of(D)>& f, uint corner) __ASSAY_MEMBER {
      return __corner<float, D>(d, s, f, level, at.image, corner);
    };
    return vec<T, 4>(__filtered<T, D>(d, s, at, levels, read));
  } else {
    __footprint<__axes_of(D)> f = __find<__axes_of(D)>(d, s, at, levels.first, false);
    return __corner<T, D>(d, s, f, levels.first, at.image, 0u);
  }
}

// The four texels of linear filtering: lower left, lower right, upper right, upper left.
template <class T, int D>
__ASSAY_FN vec<T, 4> __gather(__texture_pointer d, sampler s, const __place& at, uint which) {
  __footprint<2> f = __find<2>(d, s, at, 0u, true);
  vec<T, 4> found(T(0));
#pragma clang loop unroll(disable)
  for (uint n = 0; n < 4u; ++n) {
    vec<T, 4> v = __corner<T, D>(d, s, f, 0u, at.image, (0x0132u >> (4u * n)) & 3u);
    T one = __selected(v, which + 2u);
    found.__v[0] = n == 0u ? one : found.__v[0];
    found.__v[1] = n == 1u ? one : found.__v[1];
    found.__v[2] = n == 2u ? one : found.__v[2];
    found.__v[3] = n == 3u ? one : found.__v[3];
  }
  return found;
}

__ASSAY_FN float __compared(float reference, float texel, compare_func f) {
  bool passes = f == compare_func::never ? false
              : f == compare_func::less ? reference < texel
              : f == compare_func::equal ? reference == texel
              : f == compare_func::less_equal ? reference <= texel
              : f == compare_func::greater ? reference > texel
              : f == compare_func::not_equal ? reference != texel
              : f == compare_func::greater_equal ? reference >= texel : true;
  return passes ? 1.0f : 0.0f;
}
template <int D>
__ASSAY_FN float __sample_compare(
    __texture_pointer d, sampler s, const __place& at, float reference, float lod) {
  __levels levels = __levels_at(d, s, lod);
  auto read = [&](uint level, const __footprint<__axes_of(D)>& f, uint corner) __ASSAY_MEMBER {
    float texel = __corner<float, D>(d, s, f, level, at.image, corner).__v[0];
    return vec<float, 4>(__compared(reference, texel, s.__compare()));
  };
  return __filtered<float, D>(d, s, at, levels, read).__v[0];
}
template <int D>
__ASSAY_FN vec<float, 4> __gather_compare(
    __texture_pointer d, sampler s, const __place& at, float reference) {
  vec<float, 4> v = __gather<float, D>(d, s, at, 0u);
  compare_func f = s.__compare();
  return vec<float, 4>(__compared(reference, v.__v[0], f), __compared(reference, v.__v[1], f),
                       __compared(reference, v.__v[2], f), __compared(reference, v.__v[3], f));
}
}  // namespace metal
