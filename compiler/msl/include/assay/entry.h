// What the wrapper around an entry point needs: its parameter types, grid positions, reflection.
#pragma once
#include "array.h"
#include "function_table.h"
#ifdef __ASSAY_TEXTURES
#include "texture.h"
#else  // The program names no texture and no sampler.
namespace metal {
template <class T> constexpr bool __is_texture = false;
struct sampler;
struct __texture_data;
}  // namespace metal
#endif
#ifdef __ASSAY_TENSORS
#include "tensor.h"
#else  // Nor any tensor.
namespace metal {
template <class T> constexpr bool is_tensor_v = false;
template <class T> struct __tensor_data;
}  // namespace metal
#endif

template <class F> struct __assay_function;
template <class R, class... A> struct __assay_function<R(A...)> {
  template <int I> using argument = __type_pack_element<I, A...>;
};
template <class R, class... A> struct __assay_function<R (&)(A...)> : __assay_function<R(A...)> {};
template <class F, int I>
using __assay_argument = typename __assay_function<F>::template argument<I>;

template <class T> struct __assay_parameter;
template <class T> struct __assay_parameter<T*> { using pointee = T; };
template <class T> struct __assay_parameter<T&> { using pointee = T; };
// By value: a texture is passed as its description, others as a copy in constant memory.
template <class T> constexpr bool __assay_by_value = false;
template <> constexpr bool __assay_by_value<metal::sampler> = true;
template <class T, size_t N> constexpr bool __assay_by_value<metal::array<T, N>> =
    metal::__is_texture<T> || __assay_by_value<T> || __is_pointer(T);
template <class T> requires metal::__is_texture<T>
struct __assay_parameter<T> { using pointee = const __ASSAY_CONSTANT metal::__texture_data; };
template <class T> requires metal::is_tensor_v<T>
struct __assay_parameter<T> {
  using pointee = const __ASSAY_CONSTANT metal::__tensor_data<typename T::element_type>;
};
template <class F> struct __assay_parameter<metal::visible_function_table<F>> {
  using pointee = const __ASSAY_CONSTANT uint;
};
template <class T> requires __assay_by_value<T>
struct __assay_parameter<T> { using pointee = const __ASSAY_CONSTANT T; };
template <class T> using __assay_pointee = typename __assay_parameter<T>::pointee;
template <class T> using __assay_pointer = __assay_pointee<T>*;
// What is described to the host: the argument, or one of an array of buffers.
template <class T> struct __assay_one { using pointer = __assay_pointer<T>; using pointee = __assay_pointee<T>; };
template <class T, size_t N> struct __assay_one<metal::array<T*, N>> { using pointer = T*; using pointee = T; };

// The argument itself: a pointer as it is, a reference to what it points to.
template <class T>
__ASSAY_FN T __assay_pass(__assay_pointer<T> pointer) {
  if constexpr (__is_pointer(T)) {
    return pointer;
  } else if constexpr (metal::__is_texture<T>) {
    return T{{pointer}};
  } else if constexpr (metal::__is_function_table<T> || metal::is_tensor_v<T>) {
    return T{pointer};
  } else if constexpr (__assay_by_value<T>) {
    if (!pointer) return T{};
    return *pointer;
  } else {
    return *pointer;
  }
}

// What the host needs of an argument beyond its memory: 0 for buffers. As reflection.py reads it:
// MTLTextureType, access, whether depth, MTLDataType, what it is, and from bit 32 on how many. Of a
// tensor: how many dimensions, whether its elements are only read, MTLDataType.
template <class T> constexpr unsigned long __assay_details = 0;
template <> constexpr unsigned long __assay_details<metal::sampler> = 2ul << 24 | 1ul << 32;
template <class F>
constexpr unsigned long __assay_details<metal::visible_function_table<F>> = 3ul << 24 | 1ul << 32;
template <class T, size_t N> requires __assay_by_value<metal::array<T, N>>
constexpr unsigned long __assay_details<metal::array<T, N>> =
    (__assay_details<T> & 0xfffffffful) | N << 32;
template <class T> constexpr unsigned long __assay_data_type = 0;
template <> constexpr unsigned long __assay_data_type<float> = 3;
template <> constexpr unsigned long __assay_data_type<half> = 16;
template <> constexpr unsigned long __assay_data_type<int> = 29;
template <> constexpr unsigned long __assay_data_type<uint> = 33;
template <> constexpr unsigned long __assay_data_type<short> = 37;
template <> constexpr unsigned long __assay_data_type<ushort> = 41;
template <> constexpr unsigned long __assay_data_type<char> = 45;
template <> constexpr unsigned long __assay_data_type<signed char> = 45;
template <> constexpr unsigned long __assay_data_type<uchar> = 49;
template <> constexpr unsigned long __assay_data_type<bfloat> = 121;
template <class T> requires metal::__is_texture<T>
constexpr unsigned long __assay_details<T> =
    (unsigned long)T::__type | (unsigned long)T::__access << 8 | (unsigned long)T::__is_depth << 12 |
    __assay_data_type<typename T::__element_type> << 16 | 1ul << 24 | 1ul << 32;

template <class T> requires metal::is_tensor_v<T>
constexpr unsigned long __assay_details<T> =
    T::get_rank() | (unsigned long)__is_const(metal::remove_addrspace_t<typename T::element_type>) << 8 |
    __assay_data_type<typename T::value_type> << 16 | 4ul << 24 | 1ul << 32;

// Which scalar of reflection.py's list memory holds, and from bit 8 on how many make a vector.
template <class T> constexpr unsigned long __assay_scalar = 0;
template <> constexpr unsigned long __assay_scalar<float> = 1;
template <> constexpr unsigned long __assay_scalar<half> = 2;
template <> constexpr unsigned long __assay_scalar<bfloat> = 3;
template <> constexpr unsigned long __assay_scalar<int> = 4;
template <> constexpr unsigned long __assay_scalar<uint> = 5;
template <> constexpr unsigned long __assay_scalar<short> = 6;
template <> constexpr unsigned long __assay_scalar<ushort> = 7;
template <> constexpr unsigned long __assay_scalar<char> = 8;
template <> constexpr unsigned long __assay_scalar<signed char> = 8;
template <> constexpr unsigned long __assay_scalar<uchar> = 9;
template <> constexpr unsigned long __assay_scalar<long> = 10;
template <> constexpr unsigned long __assay_scalar<ulong> = 11;
template <> constexpr unsigned long __assay_scalar<bool> = 12;
template <class T> constexpr unsigned long __assay_numbers = __assay_scalar<T>;
template <class T, int N>
constexpr unsigned long __assay_numbers<metal::vec<T, N>> = __assay_scalar<T> | (unsigned long)N << 8;

template <class T> constexpr unsigned long __assay_size = 0;
template <class T> requires requires { sizeof(T); } && (!__is_void(T))
constexpr unsigned long __assay_size<T> = sizeof(T);
template <class T> constexpr unsigned long __assay_alignment = 1;
template <class T> requires requires { alignof(T); } && (!__is_void(T))
constexpr unsigned long __assay_alignment<T> = alignof(T);
template <class T> constexpr unsigned long __assay_space = 0;
template <class T> constexpr unsigned long __assay_space<__ASSAY_DEVICE T*> = 1;
template <class T> constexpr unsigned long __assay_space<__ASSAY_THREADGROUP T*> = 3;
template <class T> constexpr unsigned long __assay_space<__ASSAY_CONSTANT T*> = 6;
template <class T> constexpr bool __assay_is_const = __is_const(T);

// Clang prints how this is laid out, by which layouts.py finds the struct of a kernel's parameter.
template <unsigned long Kernel, int Parameter, class T> struct __assay_layout { T value; };
template <unsigned long Kernel, int Parameter, class T> constexpr bool __assay_laid_out = true;
template <unsigned long Kernel, int Parameter, class T>
  requires (__is_class(T) && requires { sizeof(T); })
constexpr bool __assay_laid_out<Kernel, Parameter, T> =
    sizeof(__assay_layout<Kernel, Parameter, T>) > 0;

// Its mangled name carries the values to the host.
template <auto... V> [[clang::sycl_external]] __attribute__((nodebug)) void __assay_reflect() {}

// Positions and sizes in the grid are ushort or uint, and vectors of two or three of them.
template <class T> constexpr bool __assay_is_index =
    __is_same(metal::__element<T>, uint) || __is_same(metal::__element<T>, ushort);
#define __ASSAY_REQUIRE_INDEX(T, most)                                                            \
  static_assert(__assay_is_index<T> && metal::__count<T> <= most,                                 \
                "the type of this parameter is not valid for its attribute")

template <class T>
__ASSAY_FN constexpr T __assay_make_position(unsigned x, unsigned y, unsigned z) {
  __ASSAY_REQUIRE_INDEX(T, 3);
  if constexpr (metal::__count<T> == 2) {
    return T(x, y);
  } else if constexpr (metal::__count<T> == 3) {
    return T(x, y, z);
  } else {
    return T(x);
  }
}
#define __ASSAY_GET3(name)                                                                        \
  template <class T> __ASSAY_FN T __assay_get_##name() {                                          \
    return __assay_make_position<T>(__assay_##name(0), __assay_##name(1), __assay_##name(2));     \
  }
__ASSAY_GET3(thread_position_in_grid)
__ASSAY_GET3(thread_position_in_threadgroup)
__ASSAY_GET3(threadgroup_position_in_grid)
__ASSAY_GET3(threads_per_threadgroup)
__ASSAY_GET3(dispatch_threads_per_threadgroup)
__ASSAY_GET3(threads_per_grid)
__ASSAY_GET3(threadgroups_per_grid)
#undef __ASSAY_GET3

#define __ASSAY_GET1(name, value)                                                                 \
  template <class T> __ASSAY_FN T __assay_get_##name() {                                          \
    __ASSAY_REQUIRE_INDEX(T, 3);                                                                  \
    return T(value);                                                                              \
  }
__ASSAY_GET1(thread_index_in_threadgroup, __assay_thread_index_in_threadgroup())
__ASSAY_GET1(thread_index_in_simdgroup, __assay_thread_index_in_simdgroup())
__ASSAY_GET1(simdgroup_index_in_threadgroup, __assay_simdgroup_index_in_threadgroup())
__ASSAY_GET1(simdgroups_per_threadgroup, __assay_simdgroups_per_threadgroup())
__ASSAY_GET1(dispatch_simdgroups_per_threadgroup, __assay_dispatch_simdgroups_per_threadgroup())
__ASSAY_GET1(threads_per_simdgroup, 32)
__ASSAY_GET1(thread_execution_width, 32)
__ASSAY_GET1(thread_index_in_quadgroup, __assay_thread_index_in_simdgroup() & 3u)
__ASSAY_GET1(quadgroup_index_in_threadgroup, __assay_thread_index_in_threadgroup() >> 2)
__ASSAY_GET1(quadgroups_per_threadgroup,
             (__assay_threads_per_threadgroup(0) * __assay_threads_per_threadgroup(1) *
                  __assay_threads_per_threadgroup(2) + 3u) >> 2)
__ASSAY_GET1(dispatch_quadgroups_per_threadgroup,
             (__assay_dispatch_threads_per_threadgroup(0) *
                  __assay_dispatch_threads_per_threadgroup(1) *
                  __assay_dispatch_threads_per_threadgroup(2) + 3u) >> 2)
__ASSAY_GET1(grid_origin, 0)
#undef __ASSAY_GET1
template <class T> __ASSAY_FN T __assay_get_grid_size() { return __assay_get_threads_per_grid<T>(); }

// static_cast between values, also between half and bfloat.
template <class T, class V>
__ASSAY_FN constexpr T __assay_static_cast(V&& value) {
  if constexpr ((__is_same(T, half) && __is_same(metal::__bare_t<V>, bfloat)) ||
                (__is_same(T, bfloat) && __is_same(metal::__bare_t<V>, half))) {
    return (T)(float)value;
  } else {
    return static_cast<T>(static_cast<V&&>(value));
  }
}

// `name(a, b, ...)` of a vector type that the program declares itself.
template <class V, class A>
__ASSAY_FN constexpr V __assay_make_vector(const A& a) {
  if constexpr (requires { __builtin_convertvector(a, V); }) {
    return __builtin_convertvector(a, V);
  } else {
    return (V)a;
  }
}
template <class V, class A, class B, class... C>
__ASSAY_FN constexpr V __assay_make_vector(const A& a, const B& b, const C&... c) {
  using E = metal::__bare_t<decltype(metal::declval<V&>()[0])>;
  return V{(E)a, (E)b, (E)c...};
}

// A copy of an object, wherever it lies.
template <class T>
__ASSAY_FN constexpr metal::__bare_t<T> __assay_value(T&& object) { return object; }
