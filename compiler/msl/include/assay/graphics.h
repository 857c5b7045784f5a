// What only rendering functions may use. They are never run; helpers beside kernels may name these.
#pragma once
#include "base.h"

namespace metal {
void discard_fragment();
template <class T> T dfdx(T);
template <class T> T dfdy(T);
template <class T> T fwidth(T);
uint get_num_samples();
float2 get_sample_position(uint);

enum class interpolation {
  perspective,
  no_perspective,
};
template <class T, interpolation>
struct interpolant {
  T interpolate_at_center() const;
  T interpolate_at_centroid() const;
  T interpolate_at_sample(uint) const;
  T interpolate_at_offset(float2) const;
};

template <class T>
struct patch_control_point {
  T operator[](size_t) const;
  size_t size() const;
};
enum class vertex_index {
  first,
  second,
  third,
};
template <class T>
struct vertex_value {
  T get(vertex_index) const;
};
}  // namespace metal

// What a kernel writes for the tessellator.
struct MTLQuadTessellationFactorsHalf {
  half edgeTessellationFactor[4];
  half insideTessellationFactor[2];
};
struct MTLTriangleTessellationFactorsHalf {
  half edgeTessellationFactor[3];
  half insideTessellationFactor;
};
