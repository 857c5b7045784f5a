// Atomic operations on texels of one or two 32-bit integers.
#pragma once
#include "texture_data.h"

namespace metal {
template <class T> constexpr bool __is_atomic_texel = __is_same(T, int) || __is_same(T, uint);

template <class T>
__ASSAY_FN __ASSAY_DEVICE T* __texel_place(__texture_pointer d, uint x, uint y, uint image) {
  return (__ASSAY_DEVICE T*)__texel_address(d, 0u, x, y, image);
}
#define __ASSAY_TEXEL_FETCH(op, name, T)                                                          \
  __ASSAY_FN T __texel_##op(__ASSAY_DEVICE T* p, T v) { return __assay_atomic_##op##_##name(p, v); }
#define __ASSAY_TEXEL_ATOMICS(name, T)                                                            \
  __ASSAY_TEXEL_FETCH(add, name, T) __ASSAY_TEXEL_FETCH(sub, name, T)                              \
  __ASSAY_TEXEL_FETCH(and, name, T) __ASSAY_TEXEL_FETCH(or, name, T)                               \
  __ASSAY_TEXEL_FETCH(xor, name, T) __ASSAY_TEXEL_FETCH(min, name, T)                              \
  __ASSAY_TEXEL_FETCH(max, name, T) __ASSAY_TEXEL_FETCH(xchg, name, T)                             \
  __ASSAY_FN T __texel_load(__ASSAY_DEVICE T* p) { return __assay_atomic_load_##name(p); }        \
  __ASSAY_FN void __texel_store(__ASSAY_DEVICE T* p, T v) { __assay_atomic_store_##name(p, v); }   \
  __ASSAY_FN T __texel_cmpxchg(__ASSAY_DEVICE T* p, T e, T v) {                                    \
    return __assay_atomic_cmpxchg_##name(p, e, v);                                                \
  }
__ASSAY_TEXEL_ATOMICS(i32, int)
__ASSAY_TEXEL_ATOMICS(u32, uint)
#undef __ASSAY_TEXEL_ATOMICS
#undef __ASSAY_TEXEL_FETCH

// Members of texture classes; `ARGS` are the coordinates, X, Y and IMAGE what they mean.
#define __ASSAY_ATOMIC_AT1(M, ...) M((uint p), p, 0u, 0u, __VA_ARGS__)
#define __ASSAY_ATOMIC_AT1_ARRAY(M, ...) M((uint p, uint array), p, 0u, array, __VA_ARGS__)
#define __ASSAY_ATOMIC_AT2(M, ...) M((uint2 p), p.__v[0], p.__v[1], 0u, __VA_ARGS__)
#define __ASSAY_ATOMIC_AT2_ARRAY(M, ...)                                                          \
  M((uint2 p, uint array), p.__v[0], p.__v[1], array, __VA_ARGS__)
#define __ASSAY_ATOMIC_AT3(M, ...) M((uint3 p), p.__v[0], p.__v[1], p.__v[2], __VA_ARGS__)

// Outside of the texture nothing is changed, and the answer is zero.
#define __ASSAY_TEXEL_MEMBER(ARGS, X, Y, IMAGE, member, op)                                       \
  __ASSAY_MEMBER vec<T, 4> member(__ASSAY_UNWRAP ARGS, vec<T, 4> v) const                         \
    requires(__is_atomic_texel<T> && A == access::read_write)                                     \
  {                                                                                               \
    if (!__is_inside(this->__d, 0u, X, Y, IMAGE)) return vec<T, 4>(T(0));                         \
    return vec<T, 4>(__texel_##op(__texel_place<T>(this->__d, X, Y, IMAGE), T(v.__v[0])), T(0),    \
                     T(0), T(1));                                                                 \
  }
#define __ASSAY_TEXEL_LOAD(ARGS, X, Y, IMAGE, member, op)                                         \
  __ASSAY_MEMBER vec<T, 4> member(__ASSAY_UNWRAP ARGS) const                                      \
    requires(__is_atomic_texel<T> && (A == access::read_write || A == access::read))              \
  {                                                                                               \
    if (!__is_inside(this->__d, 0u, X, Y, IMAGE)) return vec<T, 4>(T(0));                         \
    return vec<T, 4>(__texel_load(__texel_place<T>(this->__d, X, Y, IMAGE)), T(0), T(0), T(1));    \
  }
#define __ASSAY_TEXEL_STORE(ARGS, X, Y, IMAGE, member, op)                                        \
  __ASSAY_MEMBER void member(vec<T, 4> v, __ASSAY_UNWRAP ARGS) const                              \
    requires(__is_atomic_texel<T> && (A == access::read_write || A == access::write))             \
  {                                                                                               \
    if (__is_inside(this->__d, 0u, X, Y, IMAGE))                                                  \
      __texel_store(__texel_place<T>(this->__d, X, Y, IMAGE), T(v.__v[0]));                        \
  }
#define __ASSAY_TEXEL_EXCHANGE(ARGS, X, Y, IMAGE, member, op)                                     \
  __ASSAY_MEMBER bool member(__ASSAY_UNWRAP ARGS, vec<T, 4>* expected, vec<T, 4> desired) const   \
    requires(__is_atomic_texel<T> && A == access::read_write)                                     \
  {                                                                                               \
    if (!__is_inside(this->__d, 0u, X, Y, IMAGE)) return false;                                   \
    T wanted = expected->__e[0];                                                                  \
    T found = __texel_cmpxchg(__texel_place<T>(this->__d, X, Y, IMAGE), wanted, T(desired.__v[0])); \
    expected->__e[0] = found;                                                                     \
    return found == wanted;                                                                       \
  }
#define __ASSAY_TEXTURE_ATOMICS(AT)                                                               \
  AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_add, add) AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_sub, sub)  \
  AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_and, and) AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_or, or)    \
  AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_xor, xor) AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_min, min)  \
  AT(__ASSAY_TEXEL_MEMBER, atomic_fetch_max, max) AT(__ASSAY_TEXEL_MEMBER, atomic_exchange, xchg)  \
  AT(__ASSAY_TEXEL_LOAD, atomic_load, load) AT(__ASSAY_TEXEL_STORE, atomic_store, store)           \
  AT(__ASSAY_TEXEL_EXCHANGE, atomic_compare_exchange_weak, cmpxchg)
}  // namespace metal
