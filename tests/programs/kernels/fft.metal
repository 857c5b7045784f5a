// Stockham's transform in threadgroup memory: passes of radix 2, 4 and 8, no bit reversal.
#include <metal_stdlib>
using namespace metal;

constant bool inverse [[function_constant(0)]];
constant bool real_input [[function_constant(1)]];
constant int size_n [[function_constant(2)]];
constant int radix_2_passes [[function_constant(3)]];
constant int radix_4_passes [[function_constant(4)]];
constant int radix_8_passes [[function_constant(5)]];
constant int per_threadgroup [[function_constant(6)]];  // transforms of one threadgroup

METAL_FUNC float2 complex_mul(float2 a, float2 b) {
  return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

METAL_FUNC float2 twiddle(int k, int n) {
  const float theta = (inverse ? 2.0f : -2.0f) * M_PI_F * k / n;
  return float2(precise::cos(theta), precise::sin(theta));
}

METAL_FUNC float2 turn_quarter(float2 v) { return inverse ? float2(-v.y, v.x) : float2(v.y, -v.x); }

template <int R> METAL_FUNC void butterfly(thread float2* x);

template <> METAL_FUNC void butterfly<2>(thread float2* x) {
  const float2 difference = x[0] - x[1];
  x[0] += x[1];
  x[1] = difference;
}
template <> METAL_FUNC void butterfly<4>(thread float2* x) {
  const float2 a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turn_quarter(x[1] - x[3]);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}
template <> METAL_FUNC void butterfly<8>(thread float2* x) {
  float2 even[4] = {x[0], x[2], x[4], x[6]};
  float2 odd[4] = {x[1], x[3], x[5], x[7]};
  butterfly<4>(even);
  butterfly<4>(odd);
  for (int k = 0; k < 4; ++k) {
    const float2 turned = complex_mul(odd[k], twiddle(k, 8));
    x[k] = even[k] + turned;
    x[k + 4] = even[k] - turned;
  }
}

// A pass over all transforms: `p` is the product of the radices of passes before.
template <int R>
METAL_FUNC void radix_pass(threadgroup float2*& from, threadgroup float2*& to, int p, uint tid,
                           uint threads) {
  const int butterflies = size_n / R;
  for (int i = tid; i < butterflies * per_threadgroup; i += threads) {
    const int at = i % butterflies, start = i / butterflies * size_n;
    const int k = at % p;
    float2 x[R];
    for (int r = 0; r < R; ++r) {
      x[r] = complex_mul(from[start + at + r * butterflies], twiddle(r * k, R * p));
    }
    butterfly<R>(x);
    const int out = (at / p) * p * R + k;
    for (int r = 0; r < R; ++r) {
      to[start + out + r * p] = x[r];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float2* swapped = from;
  from = to;
  to = swapped;
}

kernel void fft(const device float* in [[buffer(0)]], device float2* out [[buffer(1)]],
                constant const int& batch [[buffer(2)]],
                threadgroup float2* shared [[threadgroup(0)]],
                uint tid [[thread_index_in_threadgroup]], uint3 elem [[threadgroup_position_in_grid]],
                uint threads [[threads_per_threadgroup]]) {
  threadgroup float2* from = shared;
  threadgroup float2* to = shared + size_n * per_threadgroup;
  const int first = elem.x * per_threadgroup;
  const int there = min(per_threadgroup, batch - first) * size_n;
  for (int i = tid; i < size_n * per_threadgroup; i += threads) {
    float2 value = 0;
    if (i < there) {
      value = real_input ? float2(in[first * size_n + i], 0)
                         : ((const device float2*)in)[first * size_n + i];
    }
    from[i] = value;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int p = 1;
  for (int s = 0; s < radix_8_passes; ++s, p *= 8) {
    radix_pass<8>(from, to, p, tid, threads);
  }
  for (int s = 0; s < radix_4_passes; ++s, p *= 4) {
    radix_pass<4>(from, to, p, tid, threads);
  }
  for (int s = 0; s < radix_2_passes; ++s, p *= 2) {
    radix_pass<2>(from, to, p, tid, threads);
  }
  const float scale = inverse ? 1.0f / size_n : 1.0f;
  for (int i = tid; i < there; i += threads) {
    out[first * size_n + i] = from[i] * scale;
  }
}
