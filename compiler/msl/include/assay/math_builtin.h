// Functions that the compiler knows: each becomes one LLVM intrinsic.
#pragma once
#include "apply.h"

namespace metal {
__ASSAY_MAP1(__real_t, fabs, return __builtin_elementwise_abs(x);)
__ASSAY_MAP1(__real_t, floor, return __builtin_elementwise_floor(x);)
__ASSAY_MAP1(__real_t, ceil, return __builtin_elementwise_ceil(x);)
__ASSAY_MAP1(__real_t, trunc, return __builtin_elementwise_trunc(x);)
__ASSAY_MAP1(__real_t, rint, return __builtin_elementwise_roundeven(x);)
__ASSAY_MAP1(__real_t, round, return __builtin_elementwise_round(x);)
__ASSAY_MAP1(__real_t, sqrt, return __builtin_elementwise_sqrt(x);)
__ASSAY_MAP2(__real_t, copysign, return __builtin_elementwise_copysign(x, y);)
__ASSAY_MAP2(__real_t, fmin, return __builtin_elementwise_minnum(x, y);)
__ASSAY_MAP2(__real_t, fmax, return __builtin_elementwise_maxnum(x, y);)
__ASSAY_MAP3(__real_t, fma, return __builtin_elementwise_fma(x, y, z);)
}  // namespace metal
