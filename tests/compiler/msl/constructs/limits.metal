#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  f[0] = numeric_limits<float>::max() + numeric_limits<float>::infinity() +
         numeric_limits<float>::lowest() + numeric_limits<half>::max() +
         numeric_limits<float>::epsilon() + numeric_limits<float>::quiet_NaN() +
         numeric_limits<float>::min() + numeric_limits<float>::denorm_min();
  n[0] = numeric_limits<int>::max() + numeric_limits<short>::min() + numeric_limits<uchar>::max() +
         numeric_limits<float>::digits;
  u[0] = numeric_limits<uint>::max();
  f[1] = metal::numeric_limits<bfloat>::max();
  f[2] = FLT_MAX + FLT_MIN + HALF_MAX + M_PI_F + M_E_H + INFINITY + NAN + MAXFLOAT + MAXHALF +
         FLT_EPSILON + HUGE_VALF;
  n[1] = INT_MAX + INT_MIN + CHAR_BIT + SHRT_MAX + UCHAR_MAX;
  u[1] = UINT_MAX;
}
