// What only rendering functions may call. They are left out; helpers beside kernels may name these.
#pragma once
#include "base.h"

namespace metal {
void discard_fragment();
template <class T> T dfdx(T);
template <class T> T dfdy(T);
template <class T> T fwidth(T);
uint get_num_samples();
}  // namespace metal
