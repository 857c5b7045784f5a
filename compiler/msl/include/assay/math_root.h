// Reciprocal square roots.
#pragma once
#include "math_scalar.h"

#pragma clang fp contract(off)
namespace metal {
namespace __scalar {
// Correctly rounded: one over the rounded root is up to 1.4 ulp off, which a step of Newton's method
// of second order mends. `rest` is 1 - x * root^2, with both products' rounding errors.
__ASSAY_FN constexpr float rsqrt(float x) {
  float root = 1.0f / __builtin_elementwise_sqrt(x);
  float product = root * x;
  float below = fused(root, x, -product);
  float rest = fused(-product, root, 1.0f) - below * root;
  float better = fused(0.5f * root, fused(0.75f * rest, rest, rest), root);
  return rest == rest ? better : root;  // 0, infinity and NaN
}
}  // namespace __scalar

__ASSAY_FLOAT1(rsqrt)
}  // namespace metal
