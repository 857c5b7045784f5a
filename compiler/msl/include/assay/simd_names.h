// The names of <simd/simd.h>, which hosts and kernels share.
#pragma once
#include "matrix.h"

#define __ASSAY_SIMD_NAMES(T, name)                                                               \
  typedef metal::vec<T, 2> simd_##name##2, vector_##name##2;                                      \
  typedef metal::vec<T, 3> simd_##name##3, vector_##name##3;                                      \
  typedef metal::vec<T, 4> simd_##name##4, vector_##name##4;                                      \
  namespace simd { using ::name##2; using ::name##3; using ::name##4; }
__ASSAY_SIMD_NAMES(char, char)
__ASSAY_SIMD_NAMES(uchar, uchar)
__ASSAY_SIMD_NAMES(short, short)
__ASSAY_SIMD_NAMES(ushort, ushort)
__ASSAY_SIMD_NAMES(int, int)
__ASSAY_SIMD_NAMES(uint, uint)
__ASSAY_SIMD_NAMES(long, long)
__ASSAY_SIMD_NAMES(ulong, ulong)
__ASSAY_SIMD_NAMES(half, half)
__ASSAY_SIMD_NAMES(float, float)
#undef __ASSAY_SIMD_NAMES

#define __ASSAY_SIMD_MATRIX(C, R)                                                                 \
  typedef metal::matrix<float, C, R> simd_float##C##x##R, matrix_float##C##x##R;                  \
  typedef metal::matrix<half, C, R> simd_half##C##x##R, matrix_half##C##x##R;                     \
  namespace simd { using ::float##C##x##R; using ::half##C##x##R; }
__ASSAY_SIMD_MATRIX(2, 2)
__ASSAY_SIMD_MATRIX(2, 3)
__ASSAY_SIMD_MATRIX(2, 4)
__ASSAY_SIMD_MATRIX(3, 2)
__ASSAY_SIMD_MATRIX(3, 3)
__ASSAY_SIMD_MATRIX(3, 4)
__ASSAY_SIMD_MATRIX(4, 2)
__ASSAY_SIMD_MATRIX(4, 3)
__ASSAY_SIMD_MATRIX(4, 4)
#undef __ASSAY_SIMD_MATRIX

#define __ASSAY_SIMD_PACKED(T)                                                                    \
  namespace simd { using ::packed_##T##2; using ::packed_##T##3; using ::packed_##T##4; }
__ASSAY_SIMD_PACKED(float)
__ASSAY_SIMD_PACKED(half)
__ASSAY_SIMD_PACKED(int)
__ASSAY_SIMD_PACKED(uint)
#undef __ASSAY_SIMD_PACKED
