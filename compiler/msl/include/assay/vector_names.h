// float4, packed_half3 and their like; global, and in namespace metal.
#pragma once
#include "packed.h"
#include "vector_operators.h"

#define __ASSAY_VECTOR_NAMES(T, name)                                                             \
  using name##2 = metal::vec<T, 2>;                                                               \
  using name##3 = metal::vec<T, 3>;                                                               \
  using name##4 = metal::vec<T, 4>;                                                               \
  namespace metal { using ::name##2; using ::name##3; using ::name##4; }
#define __ASSAY_PACKED_NAMES(T, name)                                                             \
  using packed_##name##2 = metal::packed_vec<T, 2>;                                               \
  using packed_##name##3 = metal::packed_vec<T, 3>;                                               \
  using packed_##name##4 = metal::packed_vec<T, 4>;                                               \
  namespace metal { using ::packed_##name##2; using ::packed_##name##3; using ::packed_##name##4; }
#define __ASSAY_NAMES(T, name) __ASSAY_VECTOR_NAMES(T, name) __ASSAY_PACKED_NAMES(T, name)

__ASSAY_NAMES(bool, bool)
__ASSAY_NAMES(char, char)
__ASSAY_NAMES(uchar, uchar)
__ASSAY_NAMES(short, short)
__ASSAY_NAMES(ushort, ushort)
__ASSAY_NAMES(int, int)
__ASSAY_NAMES(uint, uint)
__ASSAY_NAMES(long, long)
__ASSAY_NAMES(ulong, ulong)
__ASSAY_NAMES(half, half)
__ASSAY_NAMES(bfloat, bfloat)
__ASSAY_NAMES(float, float)
#undef __ASSAY_NAMES
#undef __ASSAY_PACKED_NAMES
#undef __ASSAY_VECTOR_NAMES
