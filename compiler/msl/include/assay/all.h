// Everything that a program may use, in the order of dependence.
#pragma once
#include "intrinsics.h"
#include "vector_names.h"
#include "as_type.h"
#include "common.h"
#include "entry.h"
#include "geometric.h"
#include "integer.h"
#include "math_modes.h"
#include "relational.h"
#include "simd_reduce.h"
#include "simdgroup.h"
#include "synchronization.h"
