// Textures: classes around a pointer to their description, with the members of MSL.
#pragma once
#include "synchronization.h"
#include "texel_encode.h"
#include "texture_atomic.h"
#include "texture_sample.h"
#include "vector_names.h"

namespace metal {
enum class access { sample, read, write, read_write };
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };

template <access A> constexpr bool __can_read = A != access::write;
template <access A> constexpr bool __can_write = A == access::write || A == access::read_write;
template <access A> constexpr bool __can_sample = A == access::sample;

// Numbers of MTLTextureType.
enum class __texture_type : uint {
  d1, d1_array, d2, d2_array, d2_ms, cube, cube_array, d3, d2_ms_array, buffer
};
template <class T, access A, __texture_type K, bool IsDepth> struct __texture {
  using __element_type = T;
  static constexpr access __access = A;
  static constexpr __texture_type __type = K;
  static constexpr bool __is_depth = IsDepth;
  __texture_pointer __d;
};

// Places: what the coordinates of each kind of texture mean.
__ASSAY_FN __place __at1(float c, int offset, uint image) {
  return {{c, 0.0f, 0.0f}, {offset, 0, 0}, image};
}
__ASSAY_FN __place __at2(float2 c, int2 offset, uint image) {
  return {{c.__v[0], c.__v[1], 0.0f}, {offset.__v[0], offset.__v[1], 0}, image};
}
__ASSAY_FN __place __at3(float3 c, int3 offset) {
  return {{c.__v[0], c.__v[1], c.__v[2]}, {offset.__v[0], offset.__v[1], offset.__v[2]}, 0u};
}
__ASSAY_FN __place __at_cube(float3 c, uint image) {
  __on_face found = __face_of(c);
  return {{found.s, found.t, 0.0f}, {0, 0, 0}, image * 6u + found.face};
}
// Within a cube there is no outside: the edge of the face is taken.
__ASSAY_FN sampler __on_cube(sampler s) {
  s.__set(address::clamp_to_edge);
  return s;
}
// The slice that sampling takes: one too large is the last.
__ASSAY_FN uint __slice(__texture_pointer d, uint n) {
  return n < d->array_length ? n : d->array_length - 1u;
}

// Texels of textures that a kernel both reads and writes: between a write and a read of its own a
// thread calls fence(), which checks look for.
template <access A, class T>
__ASSAY_FN vec<T, 4> __texel_read(__texture_pointer d, uint lod, uint x, uint y, uint image) {
  if constexpr (A == access::read_write) __assay_access_kind(4);
  vec<T, 4> found = __read_texel<T>(d, lod, x, y, image);
  if constexpr (A == access::read_write) __assay_access_kind(0);
  return found;
}
template <access A, class T>
__ASSAY_FN void __texel_write(__texture_pointer d, uint lod, uint x, uint y, uint image,
                              vec<T, 4> value) {
  if constexpr (A == access::read_write) __assay_access_kind(3);
  __write_texel<T>(d, lod, x, y, image, value);
  if constexpr (A == access::read_write) __assay_access_kind(0);
}

// Pieces of the classes below. V is what reading gives, F(vector) makes it of four numbers.
#define __ASSAY_WIDTH                                                                             \
  __ASSAY_MEMBER uint get_width(uint lod = 0) const { return __extent(this->__d->width, lod); }
#define __ASSAY_HEIGHT                                                                            \
  __ASSAY_MEMBER uint get_height(uint lod = 0) const { return __extent(this->__d->height, lod); }
#define __ASSAY_DEPTH                                                                             \
  __ASSAY_MEMBER uint get_depth(uint lod = 0) const { return __extent(this->__d->depth, lod); }
#define __ASSAY_LEVELS                                                                            \
  __ASSAY_MEMBER uint get_num_mip_levels() const { return this->__d->levels; }
#define __ASSAY_SLICES                                                                            \
  __ASSAY_MEMBER uint get_array_size() const { return this->__d->array_length; }
#define __ASSAY_SAMPLES                                                                           \
  __ASSAY_MEMBER uint get_num_samples() const { return this->__d->samples; }

#define __ASSAY_READ(U, P, X, Y, IMAGE, ...)                                                      \
  __ASSAY_MEMBER __V read(P p __VA_OPT__(, ) __VA_ARGS__, U lod = 0) const                        \
    requires(__can_read<A>)                                                                       \
  { return __out(__texel_read<A, T>(this->__d, lod, X, Y, IMAGE)); }
#define __ASSAY_WRITE(U, P, X, Y, IMAGE, ...)                                                     \
  __ASSAY_MEMBER void write(__V v, P p __VA_OPT__(, ) __VA_ARGS__, U lod = 0) const               \
    requires(__can_write<A>)                                                                      \
  { __texel_write<A, T>(this->__d, lod, X, Y, IMAGE, vec<T, 4>(v)); }
#define __ASSAY_ACCESS1(M, IMAGE32, ...) M(uint, uint, p, 0u, IMAGE32 __VA_OPT__(, ) __VA_ARGS__)
#define __ASSAY_ACCESS2(M, IMAGE, ...)                                                            \
  M(uint, uint2, p.__v[0], p.__v[1], IMAGE __VA_OPT__(, ) __VA_ARGS__)                            \
  M(ushort, ushort2, p.__v[0], p.__v[1], IMAGE __VA_OPT__(, ) __VA_ARGS__)
#define __ASSAY_ACCESS3(M)                                                                        \
  M(uint, uint3, p.__v[0], p.__v[1], p.__v[2])                                                    \
  M(ushort, ushort3, p.__v[0], p.__v[1], p.__v[2])

// sample() without a level, and with each way to choose one. ARGS are the coordinates and OFFSET
// what follows the level, both in parentheses; AT says which place they mean.
#define __ASSAY_UNWRAP(...) __VA_ARGS__
#define __ASSAY_SAMPLE_WITH(LOD, D, S, AT, ARGS, OFFSET)                                          \
  __ASSAY_MEMBER __V sample(sampler s, __ASSAY_UNWRAP ARGS, LOD lod __ASSAY_UNWRAP OFFSET) const  \
    requires(__can_sample<A>)                                                                     \
  { return __out(__sample<T, D>(this->__d, S, AT, __lod_of(this->__d, lod))); }
#define __ASSAY_SAMPLE_CLAMPED(LOD, D, S, AT, ARGS, OFFSET)                                       \
  __ASSAY_MEMBER __V sample(sampler s, __ASSAY_UNWRAP ARGS, LOD lod,                              \
                            min_lod_clamp least __ASSAY_UNWRAP OFFSET) const                      \
    requires(__can_sample<A>)                                                                     \
  { return __out(__sample<T, D>(this->__d, S, AT, __lod_of(this->__d, lod, least))); }
#define __ASSAY_SAMPLE(D, S, AT, ARGS, GRADIENT, OFFSET)                                          \
  __ASSAY_MEMBER __V sample(sampler s, __ASSAY_UNWRAP ARGS __ASSAY_UNWRAP OFFSET) const           \
    requires(__can_sample<A>)                                                                     \
  { return __out(__sample<T, D>(this->__d, S, AT, 0.0f)); }                                       \
  __ASSAY_SAMPLE_WITH(level, D, S, AT, ARGS, OFFSET)                                              \
  __ASSAY_SAMPLE_WITH(bias, D, S, AT, ARGS, OFFSET)                                               \
  __ASSAY_SAMPLE_WITH(GRADIENT, D, S, AT, ARGS, OFFSET)                                           \
  __ASSAY_SAMPLE_WITH(min_lod_clamp, D, S, AT, ARGS, OFFSET)                                      \
  __ASSAY_SAMPLE_CLAMPED(bias, D, S, AT, ARGS, OFFSET)                                            \
  __ASSAY_SAMPLE_CLAMPED(GRADIENT, D, S, AT, ARGS, OFFSET)
#define __ASSAY_COMPARE_WITH(LOD, D, S, AT, ARGS, OFFSET)                                         \
  __ASSAY_MEMBER T sample_compare(sampler s, __ASSAY_UNWRAP ARGS, float value,                    \
                                  LOD lod __ASSAY_UNWRAP OFFSET) const                            \
    requires(__can_sample<A>)                                                                     \
  { return T(__sample_compare<D>(this->__d, S, AT, value, __lod_of(this->__d, lod))); }
#define __ASSAY_COMPARE(D, S, AT, ARGS, GRADIENT, OFFSET)                                         \
  __ASSAY_MEMBER T sample_compare(sampler s, __ASSAY_UNWRAP ARGS,                                 \
                                  float value __ASSAY_UNWRAP OFFSET) const                        \
    requires(__can_sample<A>)                                                                     \
  { return T(__sample_compare<D>(this->__d, S, AT, value, 0.0f)); }                               \
  __ASSAY_COMPARE_WITH(level, D, S, AT, ARGS, OFFSET)                                             \
  __ASSAY_COMPARE_WITH(bias, D, S, AT, ARGS, OFFSET)                                              \
  __ASSAY_COMPARE_WITH(GRADIENT, D, S, AT, ARGS, OFFSET)                                          \
  __ASSAY_COMPARE_WITH(min_lod_clamp, D, S, AT, ARGS, OFFSET)                                     \
  __ASSAY_MEMBER vec<T, 4> gather_compare(sampler s, __ASSAY_UNWRAP ARGS,                         \
                                          float value __ASSAY_UNWRAP OFFSET) const                \
    requires(__can_sample<A>)                                                                     \
  { return vec<T, 4>(__gather_compare<D>(this->__d, S, AT, value)); }
// Colours are gathered by component, depths as they are.
#define __ASSAY_GATHER(D, S, AT, ARGS, OFFSET)                                                    \
  __ASSAY_MEMBER vec<T, 4> gather(sampler s, __ASSAY_UNWRAP ARGS __ASSAY_UNWRAP OFFSET,           \
                                  component which = component::x) const                           \
    requires(__can_sample<A>)                                                                     \
  { return metal::__gather<T, D>(this->__d, S, AT, uint(which)); }
#define __ASSAY_GATHER_DEPTH(D, S, AT, ARGS, OFFSET)                                              \
  __ASSAY_MEMBER vec<T, 4> gather(sampler s, __ASSAY_UNWRAP ARGS __ASSAY_UNWRAP OFFSET) const     \
    requires(__can_sample<A>)                                                                     \
  { return metal::__gather<T, D>(this->__d, S, AT, 0u); }
#define __ASSAY_TEXTURE_FENCE                                                                     \
  __ASSAY_MEMBER void fence() const                                                               \
    requires(A == access::read_write)                                                             \
  { __assay_fence(__ordered(mem_flags::mem_texture), 5, 0); }
#define __ASSAY_OFFSET2 (, int2 offset = int2(0))
#define __ASSAY_OFFSET3 (, int3 offset = int3(0))
#define __ASSAY_NO_OFFSET ()

#define __ASSAY_COLOR(name, type, D)                                                              \
  template <class T, access A = access::D, memory_coherence C = memory_coherence_threadgroup>     \
  struct name : __texture<T, A, __texture_type::type, false> {                                    \
    using __V = vec<T, 4>;                                                                        \
    __ASSAY_MEMBER static __V __out(vec<T, 4> v) { return v; }
#define __ASSAY_DEPTHS(name, type, D)                                                             \
  template <class T, access A = access::D, memory_coherence C = memory_coherence_threadgroup>     \
  struct name : __texture<T, A, __texture_type::type, true> {                                     \
    static_assert(__is_same(T, float), "a depth texture is of float");                            \
    using __V = T;                                                                                \
    __ASSAY_MEMBER static __V __out(vec<T, 4> v) { return v.__v[0]; }

__ASSAY_COLOR(texture1d, d1, sample)
  __ASSAY_WIDTH __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS1(__ASSAY_READ, 0u) __ASSAY_ACCESS1(__ASSAY_WRITE, 0u)
  __ASSAY_MEMBER __V sample(sampler s, float c) const
    requires(__can_sample<A>)
  { return __sample<T, 1>(this->__d, s, __at1(c, 0, 0u), 0.0f); }
  __ASSAY_TEXTURE_ATOMICS(__ASSAY_ATOMIC_AT1)
};
__ASSAY_COLOR(texture1d_array, d1_array, sample)
  __ASSAY_WIDTH __ASSAY_SLICES __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS1(__ASSAY_READ, array, uint array)
  __ASSAY_ACCESS1(__ASSAY_WRITE, array, uint array)
  __ASSAY_MEMBER __V sample(sampler s, float c, uint array) const
    requires(__can_sample<A>)
  { return __sample<T, 1>(this->__d, s, __at1(c, 0, __slice(this->__d, array)), 0.0f); }
  __ASSAY_TEXTURE_ATOMICS(__ASSAY_ATOMIC_AT1_ARRAY)
};
__ASSAY_COLOR(texture2d, d2, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS2(__ASSAY_READ, 0u) __ASSAY_ACCESS2(__ASSAY_WRITE, 0u)
  __ASSAY_SAMPLE(2, s, __at2(c, offset, 0u), (float2 c), gradient2d, __ASSAY_OFFSET2)
  __ASSAY_GATHER(2, s, __at2(c, offset, 0u), (float2 c), __ASSAY_OFFSET2)
  __ASSAY_TEXTURE_ATOMICS(__ASSAY_ATOMIC_AT2)
};
__ASSAY_COLOR(texture2d_array, d2_array, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SLICES __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS2(__ASSAY_READ, array, uint array)
  __ASSAY_ACCESS2(__ASSAY_WRITE, array, uint array)
  __ASSAY_SAMPLE(2, s, __at2(c, offset, __slice(this->__d, array)), (float2 c, uint array), gradient2d,
                 __ASSAY_OFFSET2)
  __ASSAY_GATHER(2, s, __at2(c, offset, __slice(this->__d, array)), (float2 c, uint array), __ASSAY_OFFSET2)
  __ASSAY_TEXTURE_ATOMICS(__ASSAY_ATOMIC_AT2_ARRAY)
};
__ASSAY_COLOR(texture3d, d3, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_DEPTH __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS3(__ASSAY_READ) __ASSAY_ACCESS3(__ASSAY_WRITE)
  __ASSAY_SAMPLE(3, s, __at3(c, offset), (float3 c), gradient3d, __ASSAY_OFFSET3)
  __ASSAY_TEXTURE_ATOMICS(__ASSAY_ATOMIC_AT3)
};
__ASSAY_COLOR(texturecube, cube, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS2(__ASSAY_READ, face, uint face) __ASSAY_ACCESS2(__ASSAY_WRITE, face, uint face)
  __ASSAY_SAMPLE(__cube, __on_cube(s), __at_cube(c, 0u), (float3 c), gradientcube, __ASSAY_NO_OFFSET)
  __ASSAY_GATHER(__cube, __on_cube(s), __at_cube(c, 0u), (float3 c), __ASSAY_NO_OFFSET)
};
__ASSAY_COLOR(texturecube_array, cube_array, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SLICES __ASSAY_LEVELS __ASSAY_TEXTURE_FENCE
  __ASSAY_ACCESS2(__ASSAY_READ, array * 6u + face, uint face, uint array)
  __ASSAY_ACCESS2(__ASSAY_WRITE, array * 6u + face, uint face, uint array)
  __ASSAY_SAMPLE(__cube, __on_cube(s), __at_cube(c, __slice(this->__d, array)), (float3 c, uint array), gradientcube,
                 __ASSAY_NO_OFFSET)
  __ASSAY_GATHER(__cube, __on_cube(s), __at_cube(c, __slice(this->__d, array)), (float3 c, uint array), __ASSAY_NO_OFFSET)
};
// Samples of a texel lie like slices; there are no levels.
#define __ASSAY_MULTISAMPLED(IMAGE, ...)                                                          \
  __ASSAY_MEMBER __V read(uint2 p __VA_OPT__(, ) __VA_ARGS__, uint sample) const                  \
  { return __out(__read_texel<T>(this->__d, 0u, p.__v[0], p.__v[1], IMAGE)); }                    \
  __ASSAY_MEMBER __V read(ushort2 p __VA_OPT__(, ) __VA_ARGS__, uint sample) const                \
  { return __out(__read_texel<T>(this->__d, 0u, p.__v[0], p.__v[1], IMAGE)); }
__ASSAY_COLOR(texture2d_ms, d2_ms, read)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SAMPLES
  __ASSAY_MULTISAMPLED(sample)
};
__ASSAY_COLOR(texture2d_ms_array, d2_ms_array, read)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SLICES __ASSAY_SAMPLES
  __ASSAY_MULTISAMPLED(array * this->__d->samples + sample, uint array)
};
__ASSAY_COLOR(texture_buffer, buffer, read)
  __ASSAY_MEMBER uint get_width() const { return this->__d->width; }
  __ASSAY_TEXTURE_FENCE
  __ASSAY_MEMBER __V read(uint p) const
    requires(__can_read<A>)
  { return __texel_read<A, T>(this->__d, 0u, p, 0u, 0u); }
  __ASSAY_MEMBER void write(__V v, uint p) const
    requires(__can_write<A>)
  { __texel_write<A, T>(this->__d, 0u, p, 0u, 0u, v); }
  __ASSAY_TEXTURE_ATOMICS(__ASSAY_ATOMIC_AT1)
};

__ASSAY_DEPTHS(depth2d, d2, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_LEVELS
  __ASSAY_ACCESS2(__ASSAY_READ, 0u)
  __ASSAY_SAMPLE(2, s, __at2(c, offset, 0u), (float2 c), gradient2d, __ASSAY_OFFSET2)
  __ASSAY_GATHER_DEPTH(2, s, __at2(c, offset, 0u), (float2 c), __ASSAY_OFFSET2)
  __ASSAY_COMPARE(2, s, __at2(c, offset, 0u), (float2 c), gradient2d, __ASSAY_OFFSET2)
};
__ASSAY_DEPTHS(depth2d_array, d2_array, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SLICES __ASSAY_LEVELS
  __ASSAY_ACCESS2(__ASSAY_READ, array, uint array)
  __ASSAY_SAMPLE(2, s, __at2(c, offset, __slice(this->__d, array)), (float2 c, uint array), gradient2d,
                 __ASSAY_OFFSET2)
  __ASSAY_GATHER_DEPTH(2, s, __at2(c, offset, __slice(this->__d, array)), (float2 c, uint array), __ASSAY_OFFSET2)
  __ASSAY_COMPARE(2, s, __at2(c, offset, __slice(this->__d, array)), (float2 c, uint array), gradient2d,
                  __ASSAY_OFFSET2)
};
__ASSAY_DEPTHS(depthcube, cube, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_LEVELS
  __ASSAY_ACCESS2(__ASSAY_READ, face, uint face)
  __ASSAY_SAMPLE(__cube, __on_cube(s), __at_cube(c, 0u), (float3 c), gradientcube, __ASSAY_NO_OFFSET)
  __ASSAY_GATHER_DEPTH(__cube, __on_cube(s), __at_cube(c, 0u), (float3 c), __ASSAY_NO_OFFSET)
  __ASSAY_COMPARE(__cube, __on_cube(s), __at_cube(c, 0u), (float3 c), gradientcube, __ASSAY_NO_OFFSET)
};
__ASSAY_DEPTHS(depthcube_array, cube_array, sample)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SLICES __ASSAY_LEVELS
  __ASSAY_ACCESS2(__ASSAY_READ, array * 6u + face, uint face, uint array)
  __ASSAY_SAMPLE(__cube, __on_cube(s), __at_cube(c, __slice(this->__d, array)), (float3 c, uint array), gradientcube,
                 __ASSAY_NO_OFFSET)
  __ASSAY_GATHER_DEPTH(__cube, __on_cube(s), __at_cube(c, __slice(this->__d, array)), (float3 c, uint array),
                       __ASSAY_NO_OFFSET)
  __ASSAY_COMPARE(__cube, __on_cube(s), __at_cube(c, __slice(this->__d, array)), (float3 c, uint array), gradientcube,
                  __ASSAY_NO_OFFSET)
};
__ASSAY_DEPTHS(depth2d_ms, d2_ms, read)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SAMPLES
  __ASSAY_MULTISAMPLED(sample)
};
__ASSAY_DEPTHS(depth2d_ms_array, d2_ms_array, read)
  __ASSAY_WIDTH __ASSAY_HEIGHT __ASSAY_SLICES __ASSAY_SAMPLES
  __ASSAY_MULTISAMPLED(array * this->__d->samples + sample, uint array)
};

template <class T> constexpr bool __is_texture = requires(T t) { t.__d; T::__type; };
template <class T> requires __is_texture<T>
__ASSAY_FN bool is_null_texture(T t) { return t.__d == nullptr; }
}  // namespace metal
