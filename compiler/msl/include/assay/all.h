// Everything that a program may use, in the order of dependence.
#pragma once
#include "intrinsics.h"
#include "vector_names.h"
#include "array.h"
#include "as_type.h"
#include "async_copy.h"
#include "atomic.h"
#include "common.h"
#include "constant_operators.h"
#include "entry.h"
#include "function_table.h"
#include "geometric.h"
#include "graphics.h"
#include "initializer_list.h"
#include "integer.h"
#include "limits.h"
#include "logging.h"
#include "math_exp.h"
#include "math_hyperbolic.h"
#include "math_parts.h"
#include "math_pow.h"
#include "math_root.h"
#include "math_trig.h"
#include "matrix.h"
#include "relational.h"
#include "simd_names.h"
#include "simd_reduce.h"
#include "simdgroup.h"
#include "simdgroup_matrix.h"
#include "strings.h"
#include "synchronization.h"
#ifdef __ASSAY_PACKING
#include "pack.h"
#endif
#ifdef __ASSAY_MODES
#include "apple_names.h"
#include "math_modes.h"
#endif
#ifdef __ASSAY_TEXTURES
#include "texture.h"
#endif
#ifdef __ASSAY_TENSORS
#include "tensor_convolution2d.h"
#include "tensor_eights.h"
#include "tensor_matmul2d.h"
#endif

// The program's own expressions may be contracted as its options say; those above may not. Without
// fast math that is within one expression, as the source has it: Apple's compiler does the same.
#ifdef __ASSAY_CONTRACT
#pragma clang fp contract(fast)
#else
#pragma clang fp contract(on)
#endif
