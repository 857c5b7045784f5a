// What the engine provides. Positions are constant in a thread; `convergent` ones involve the
// other lanes of the simdgroup.
#pragma once
#include "base.h"

extern "C" {
#define __ASSAY_POSITION __attribute__((const, nothrow))
#define __ASSAY_LANES __attribute__((convergent, nothrow))
#define __ASSAY_PLAIN __attribute__((nothrow))

__ASSAY_POSITION unsigned __assay_thread_position_in_grid(int dimension);
__ASSAY_POSITION unsigned __assay_thread_position_in_threadgroup(int dimension);
__ASSAY_POSITION unsigned __assay_threadgroup_position_in_grid(int dimension);
__ASSAY_POSITION unsigned __assay_threads_per_threadgroup(int dimension);
__ASSAY_POSITION unsigned __assay_dispatch_threads_per_threadgroup(int dimension);
__ASSAY_POSITION unsigned __assay_threads_per_grid(int dimension);
__ASSAY_POSITION unsigned __assay_threadgroups_per_grid(int dimension);
__ASSAY_POSITION unsigned __assay_thread_index_in_threadgroup();
__ASSAY_POSITION unsigned __assay_thread_index_in_simdgroup();
__ASSAY_POSITION unsigned __assay_simdgroup_index_in_threadgroup();
__ASSAY_POSITION unsigned __assay_simdgroups_per_threadgroup();
__ASSAY_POSITION unsigned __assay_dispatch_simdgroups_per_threadgroup();
__ASSAY_POSITION unsigned __assay_matrix_row();
__ASSAY_POSITION unsigned __assay_matrix_column();

__attribute__((const, nothrow)) unsigned __assay_uniform_i32(unsigned value);
__attribute__((const, nothrow)) unsigned __assay_lane_of_i32(unsigned lane, int lanes);
__attribute__((convergent, nothrow)) void __assay_expect_uniform_i64(unsigned long value);
__attribute__((convergent, nothrow)) void __assay_expect_simdgroups(int simdgroups);
__attribute__((convergent, nothrow)) void __assay_expect_inside(int index, int extent);
// Barriers of two branches are two barriers, which checks tell apart.
__attribute__((convergent, nothrow, nomerge)) void __assay_threadgroup_barrier(int flags);
__attribute__((convergent, nothrow, nomerge)) void __assay_simdgroup_barrier(int flags);
// What the accesses from here on are, for checks: 0 plain ones, 1 of an asynchronous copy, 3 and 4
// writes and reads of a texture that is read and written; 2 waits for copies.
__attribute__((convergent, nothrow)) void __assay_access_kind(int kind);
__ASSAY_PLAIN void __assay_fence(int flags, int order, int scope);

__ASSAY_LANES unsigned short __assay_simd_shuffle_i16(unsigned short value, unsigned lane);
__ASSAY_LANES unsigned __assay_simd_shuffle_i32(unsigned value, unsigned lane);
__ASSAY_LANES unsigned long __assay_simd_shuffle_i64(unsigned long value, unsigned lane);
__ASSAY_LANES unsigned short __assay_simd_broadcast_first_i16(unsigned short value);
__ASSAY_LANES unsigned __assay_simd_broadcast_first_i32(unsigned value);
__ASSAY_LANES unsigned long __assay_simd_broadcast_first_i64(unsigned long value);
__ASSAY_LANES unsigned long __assay_simd_ballot(int predicate);
__ASSAY_LANES unsigned long __assay_simd_active_mask();

#define __ASSAY_REDUCE(op, name, T) __ASSAY_LANES T __assay_simd_##op##_##name(T value, int cluster);
#define __ASSAY_REDUCE_NUMBER(name, T)                                                            \
  __ASSAY_REDUCE(sum, name, T) __ASSAY_REDUCE(product, name, T)                                    \
  __ASSAY_REDUCE(min, name, T) __ASSAY_REDUCE(max, name, T)
#define __ASSAY_REDUCE_BITS(name, T)                                                              \
  __ASSAY_REDUCE(and, name, T) __ASSAY_REDUCE(or, name, T) __ASSAY_REDUCE(xor, name, T)
#define __ASSAY_SCAN(name, T)                                                                     \
  __ASSAY_REDUCE(prefix_inclusive_sum, name, T) __ASSAY_REDUCE(prefix_exclusive_sum, name, T)      \
  __ASSAY_REDUCE(prefix_inclusive_product, name, T)                                                \
  __ASSAY_REDUCE(prefix_exclusive_product, name, T)
__ASSAY_REDUCE_NUMBER(f32, float)
__ASSAY_REDUCE_NUMBER(i32, int)
__ASSAY_REDUCE_NUMBER(u32, unsigned)
__ASSAY_REDUCE_NUMBER(i64, long)
__ASSAY_REDUCE_NUMBER(u64, unsigned long)
__ASSAY_REDUCE_BITS(u32, unsigned)
__ASSAY_REDUCE_BITS(u64, unsigned long)
__ASSAY_SCAN(f32, float)
__ASSAY_SCAN(i32, int)
__ASSAY_SCAN(i64, long)

__attribute__((convergent, const, nothrow)) float __assay_mma_f32(
    int element, float a0, float a1, float b0, float b1, float c0, float c1);

#define __ASSAY_ATOMIC(op, name, T) __ASSAY_PLAIN T __assay_atomic_##op##_##name(T* place, T value);
#define __ASSAY_ATOMIC_CELL(name, T)                                                              \
  __ASSAY_ATOMIC(add, name, T) __ASSAY_ATOMIC(xchg, name, T)                                       \
  __ASSAY_ATOMIC(min, name, T) __ASSAY_ATOMIC(max, name, T)                                        \
  __ASSAY_PLAIN T __assay_atomic_load_##name(T* place);                                           \
  __ASSAY_PLAIN void __assay_atomic_store_##name(T* place, T value);                              \
  __ASSAY_PLAIN T __assay_atomic_cmpxchg_##name(T* place, T expected, T desired);
#define __ASSAY_ATOMIC_INTEGER(name, T)                                                           \
  __ASSAY_ATOMIC_CELL(name, T) __ASSAY_ATOMIC(sub, name, T) __ASSAY_ATOMIC(and, name, T)           \
  __ASSAY_ATOMIC(or, name, T) __ASSAY_ATOMIC(xor, name, T)
__ASSAY_ATOMIC_INTEGER(i32, int)
__ASSAY_ATOMIC_INTEGER(u32, unsigned)
__ASSAY_ATOMIC_INTEGER(i64, long)
__ASSAY_ATOMIC_INTEGER(u64, unsigned long)
__ASSAY_ATOMIC_CELL(f32, float)

#undef __ASSAY_REDUCE
#undef __ASSAY_REDUCE_NUMBER
#undef __ASSAY_REDUCE_BITS
#undef __ASSAY_SCAN
#undef __ASSAY_ATOMIC
#undef __ASSAY_ATOMIC_CELL
#undef __ASSAY_ATOMIC_INTEGER
#undef __ASSAY_POSITION
#undef __ASSAY_LANES
#undef __ASSAY_PLAIN
}
