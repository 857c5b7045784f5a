// Macros and scalar types that everything else uses. No host intrinsics anywhere in these headers.
#pragma once

// Instructions of such a function carry the caller's line: faults name the user's source.
#define __ASSAY_FN __attribute__((always_inline, nodebug)) inline
#define __ASSAY_MEMBER __attribute__((always_inline, nodebug))

#define __ASSAY_DEVICE __attribute__((opencl_global))
#define __ASSAY_CONSTANT __attribute__((opencl_global_host))
#define __ASSAY_THREADGROUP __attribute__((opencl_local))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __bf16 bfloat;

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef _Float16 float16_t;
typedef __bf16 bfloat16_t;
typedef float float32_t;

namespace metal {
using ::uchar; using ::ushort; using ::uint; using ::ulong; using ::half; using ::bfloat;
using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t; using ::int32_t;
using ::uint32_t; using ::int64_t; using ::uint64_t; using ::size_t; using ::ptrdiff_t;
using ::uintptr_t; using ::intptr_t;
}  // namespace metal
