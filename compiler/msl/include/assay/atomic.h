// Atomic objects and the functions on them.
#pragma once
#include "intrinsics.h"
#include "synchronization.h"
#include "traits.h"

namespace metal {
template <class T> struct atomic {
  T __value;
  atomic() = default;
  __ASSAY_MEMBER constexpr atomic(T value) : __value(value) {}
};
// There are no atomic operations on bytes: a bool takes a word.
template <> struct atomic<bool> {
  uint __value;
  atomic() = default;
  __ASSAY_MEMBER constexpr atomic(bool value) : __value(value) {}
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_bool = atomic<bool>;
using atomic_float = atomic<float>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<ulong>;
template <class T> using _atomic = atomic<T>;

#define __ASSAY_CELL(T, name)                                                                     \
  __ASSAY_FN T __cell_load(T* p) { return __assay_atomic_load_##name(p); }                        \
  __ASSAY_FN void __cell_store(T* p, T v) { __assay_atomic_store_##name(p, v); }                  \
  __ASSAY_FN T __cell_exchange(T* p, T v) { return __assay_atomic_xchg_##name(p, v); }            \
  __ASSAY_FN T __cell_compare(T* p, T e, T d) { return __assay_atomic_cmpxchg_##name(p, e, d); }  \
  __ASSAY_FN T __cell_add(T* p, T v) { return __assay_atomic_add_##name(p, v); }                  \
  __ASSAY_FN T __cell_min(T* p, T v) { return __assay_atomic_min_##name(p, v); }                  \
  __ASSAY_FN T __cell_max(T* p, T v) { return __assay_atomic_max_##name(p, v); }
#define __ASSAY_INTEGER_CELL(T, name)                                                             \
  __ASSAY_CELL(T, name)                                                                           \
  __ASSAY_FN T __cell_sub(T* p, T v) { return __assay_atomic_sub_##name(p, v); }                  \
  __ASSAY_FN T __cell_and(T* p, T v) { return __assay_atomic_and_##name(p, v); }                  \
  __ASSAY_FN T __cell_or(T* p, T v) { return __assay_atomic_or_##name(p, v); }                    \
  __ASSAY_FN T __cell_xor(T* p, T v) { return __assay_atomic_xor_##name(p, v); }
__ASSAY_INTEGER_CELL(int, i32)
__ASSAY_INTEGER_CELL(uint, u32)
__ASSAY_INTEGER_CELL(long, i64)
__ASSAY_INTEGER_CELL(ulong, u64)
__ASSAY_CELL(float, f32)
#undef __ASSAY_INTEGER_CELL
#undef __ASSAY_CELL
// Subtraction of floats has no operation of its own.
__ASSAY_FN float __cell_sub(float* p, float v) { return __assay_atomic_add_f32(p, -v); }

// `object` may be in any address space: it converts to a pointer to all memory.
template <class A> using __held_t = __bare_t<decltype(declval<A>()->__value)>;
template <class A>
__ASSAY_FN __held_t<A>* __cell_of(A object) {
  return (__held_t<A>*)&object->__value;
}

template <class A, class T = __held_t<A>>
__ASSAY_FN void atomic_store_explicit(A object, __bare_t<T> desired, memory_order, thread_scope = thread_scope_device) {
  __cell_store(__cell_of(object), desired);
}
template <class A, class T = __held_t<A>>
__ASSAY_FN T atomic_load_explicit(A object, memory_order, thread_scope = thread_scope_device) {
  return __cell_load(__cell_of(object));
}
template <class A, class T = __held_t<A>>
__ASSAY_FN T atomic_exchange_explicit(A object, __bare_t<T> desired, memory_order, thread_scope = thread_scope_device) {
  return __cell_exchange(__cell_of(object), desired);
}
// As in C++: on failure the value found is written to `expected`. Never fails without reason.
template <class A, class E, class T = __held_t<A>>
__ASSAY_FN bool atomic_compare_exchange_weak_explicit(
    A object, E* expected, __bare_t<T> desired, memory_order, memory_order,
    thread_scope = thread_scope_device) {
  T wanted = *expected;
  if constexpr (__is_same(T, float)) {
    uint found = __assay_atomic_cmpxchg_u32((uint*)__cell_of(object), __builtin_bit_cast(uint, wanted),
                                            __builtin_bit_cast(uint, desired));
    *expected = __builtin_bit_cast(float, found);
    return found == __builtin_bit_cast(uint, wanted);
  } else {
    T found = __cell_compare(__cell_of(object), wanted, desired);
    *expected = found;
    return found == wanted;
  }
}
template <class A, class E, class T = __held_t<A>>
__ASSAY_FN bool atomic_compare_exchange_strong_explicit(
    A object, E* expected, __bare_t<T> desired, memory_order success, memory_order failure,
    thread_scope scope = thread_scope_device) {
  return atomic_compare_exchange_weak_explicit(object, expected, desired, success, failure, scope);
}

#define __ASSAY_FETCH(op)                                                                         \
  template <class A, class T = __held_t<A>>                                                       \
  __ASSAY_FN T atomic_fetch_##op##_explicit(A object, __bare_t<T> operand, memory_order,          \
                                            thread_scope = thread_scope_device) {                 \
    return __cell_##op(__cell_of(object), operand);                                               \
  }
__ASSAY_FETCH(add)
__ASSAY_FETCH(sub)
__ASSAY_FETCH(min)
__ASSAY_FETCH(max)
__ASSAY_FETCH(and)
__ASSAY_FETCH(or)
__ASSAY_FETCH(xor)
#undef __ASSAY_FETCH

// 64-bit minimum and maximum without a result.
template <class A, class T = __held_t<A>>
__ASSAY_FN void atomic_min_explicit(A object, __bare_t<T> operand, memory_order, thread_scope = thread_scope_device) {
  __cell_min(__cell_of(object), operand);
}
template <class A, class T = __held_t<A>>
__ASSAY_FN void atomic_max_explicit(A object, __bare_t<T> operand, memory_order, thread_scope = thread_scope_device) {
  __cell_max(__cell_of(object), operand);
}

struct atomic_flag { uint __value; };
template <class A>
__ASSAY_FN bool atomic_flag_test_and_set_explicit(A object, memory_order) {
  return __assay_atomic_xchg_u32((uint*)&object->__value, 1u) != 0;
}
template <class A>
__ASSAY_FN void atomic_flag_clear_explicit(A object, memory_order) {
  __assay_atomic_store_u32((uint*)&object->__value, 0u);
}
}  // namespace metal
