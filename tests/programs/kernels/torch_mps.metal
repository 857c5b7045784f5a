// In the manner of a framework's back end: its own namespaces of helpers, NaN-keeping extremes,
// bitonic sort, cumulative extremes with indices, cross product, binary search.
#include <metal_stdlib>
using namespace metal;

namespace c10 {
namespace metal {
template <typename T>
inline ::metal::enable_if_t<::metal::is_floating_point_v<T>, T> max(T a, T b) {
  return ::metal::isunordered(a, b) ? static_cast<T>(NAN) : ::metal::max(a, b);
}
template <typename T>
inline ::metal::enable_if_t<::metal::is_integral_v<T>, T> max(T a, T b) {
  return ::metal::max(a, b);
}
template <typename T>
inline ::metal::enable_if_t<::metal::is_floating_point_v<T>, T> min(T a, T b) {
  return ::metal::isunordered(a, b) ? static_cast<T>(NAN) : ::metal::min(a, b);
}
template <typename T>
inline ::metal::enable_if_t<::metal::is_integral_v<T>, T> min(T a, T b) {
  return ::metal::min(a, b);
}

namespace detail {
template <typename T> struct OpMathType { using type = T; };
template <> struct OpMathType<half> { using type = float; };
template <> struct OpMathType<bfloat> { using type = float; };
template <> struct OpMathType<char> { using type = int; };
}  // namespace detail
template <typename T> using opmath_t = typename detail::OpMathType<T>::type;

constexpr constant ushort simdgroup_size = 32;

// The logarithm of the gamma function for positive x, by Stirling's series.
inline float log_gamma(float x) {
  float shift = 0;
  while (x < 7.0f) {
    shift += ::metal::precise::log(x);
    x += 1.0f;
  }
  const float r = 1.0f / (x * x);
  return (x - 0.5f) * ::metal::precise::log(x) - x + 0.9189385332f +
      (1.0f / 12 - r * (1.0f / 360 - r / 1260)) / x - shift;
}
}  // namespace metal
}  // namespace c10

using namespace c10::metal;

struct clamp_functor {
  template <typename T>
  inline T operator()(const T x, const T low, const T high) {
    return c10::metal::min(c10::metal::max(x, low), high);
  }
};
struct lgamma_functor {
  template <typename T> inline T operator()(const T x) {
    return static_cast<T>(log_gamma(static_cast<opmath_t<T>>(x)));
  }
};

template <typename T, typename F>
kernel void ternary_dense(device T* output [[buffer(0)]], constant T* input [[buffer(1)]],
                          constant T* low [[buffer(2)]], constant T* high [[buffer(3)]],
                          uint index [[thread_position_in_grid]]) {
  F f;
  output[index] = f(input[index], low[index], high[index]);
}
template <typename T, typename F>
kernel void unary_dense(device T* output [[buffer(0)]], constant T* input [[buffer(1)]],
                        uint index [[thread_position_in_grid]]) {
  F f;
  output[index] = f(input[index]);
}

#define REGISTER_TERNARY_OP(NAME, DTYPE)                                            \
  template [[host_name(#NAME "_dense_" #DTYPE)]] kernel void                        \
  ternary_dense<DTYPE, NAME##_functor>(device DTYPE * output, constant DTYPE * input, \
                                       constant DTYPE * low, constant DTYPE * high, \
                                       uint index)
#define REGISTER_UNARY_OP(NAME, DTYPE)                       \
  template [[host_name(#NAME "_dense_" #DTYPE)]] kernel void \
  unary_dense<DTYPE, NAME##_functor>(device DTYPE*, constant DTYPE*, uint)
REGISTER_TERNARY_OP(clamp, float);
REGISTER_TERNARY_OP(clamp, half);
REGISTER_TERNARY_OP(clamp, bfloat);
REGISTER_TERNARY_OP(clamp, long);
REGISTER_UNARY_OP(lgamma, float);
REGISTER_UNARY_OP(lgamma, half);

// Sorts a power of two of elements in threadgroup memory, values with their indices.
template <typename T>
kernel void bitonic_sort(device T* values [[buffer(0)]], device long* indices [[buffer(1)]],
                         constant uint& length [[buffer(2)]], constant bool& descending [[buffer(3)]],
                         threadgroup T* keys [[threadgroup(0)]],
                         threadgroup ushort* places [[threadgroup(1)]],
                         uint tptg [[threads_per_threadgroup]],
                         uint lid [[thread_position_in_threadgroup]],
                         uint row [[threadgroup_position_in_grid]]) {
  const uint padded = 2 * tptg;
  for (uint i = lid; i < padded; i += tptg) {
    keys[i] = i < length ? values[row * length + i] : T(0);
    places[i] = i;
  }
  // What is beyond the end sorts last, then equal keys by place: the sort is stable.
  const auto after = [&](ushort a, ushort b) {
    const bool a_there = a < length, b_there = b < length;
    if (a_there != b_there) return b_there;
    const T x = keys[a], y = keys[b];
    if (x == y || !a_there) return a > b;
    return descending ? x < y : x > y;
  };
  for (uint size = 2; size <= padded; size *= 2) {
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint i = 2 * stride * (lid / stride) + lid % stride;
      const bool ascending = (i & size) == 0;
      const ushort a = places[i], b = places[i + stride];
      if (after(a, b) == ascending) {
        places[i] = b;
        places[i + stride] = a;
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = lid; i < length; i += tptg) {
    values[row * length + i] = keys[places[i]];
    indices[row * length + i] = places[i];
  }
}
template [[host_name("bitonic_sort_float")]] kernel void bitonic_sort<float>(
    device float*, device long*, constant uint&, constant bool&, threadgroup float*,
    threadgroup ushort*, uint, uint, uint);
template [[host_name("bitonic_sort_char")]] kernel void bitonic_sort<char>(
    device char*, device long*, constant uint&, constant bool&, threadgroup char*,
    threadgroup ushort*, uint, uint, uint);

// The least value so far and where it was; one thread walks one line.
template <typename T>
kernel void cummin(constant T* self_ptr, device T* values, device int64_t* indices,
                   constant int64_t& self_dim_size, constant int64_t* self_strides,
                   uint tid [[thread_position_in_grid]]) {
  T best = self_ptr[tid * self_strides[0]];
  int64_t place = 0;
  for (int64_t i = 0; i < self_dim_size; ++i) {
    const int64_t at = tid * self_strides[0] + i * self_strides[1];
    const T current = self_ptr[at];
    if (isnan(current) || (!isnan(best) && current <= best)) {
      best = current;
      place = i;
    }
    values[at] = best;
    indices[at] = place;
  }
}
#define REGISTER_CUMMIN(DTYPE) \
  template [[host_name("cummin_" #DTYPE)]] kernel void cummin<DTYPE>( \
      constant DTYPE*, device DTYPE*, device int64_t*, constant int64_t&, constant int64_t*, uint)
REGISTER_CUMMIN(float);
REGISTER_CUMMIN(bfloat);

template <typename T, typename U>
kernel void cross(device U* out, const device U* a, const device U* b, constant uint3& strides,
                  uint tid [[thread_position_in_grid]]) {
  out[tid * strides.x] = U(cross(vec<T, 3>(a[tid * strides.y]), vec<T, 3>(b[tid * strides.z])));
}

// Buckets: how many boundaries are not above the value.
template <typename input_t, typename output_t>
kernel void searchsorted(constant input_t* data_in [[buffer(0)]], constant input_t* data_bd [[buffer(1)]],
                         device output_t* data_out [[buffer(2)]], constant int64_t& count [[buffer(3)]],
                         constant bool& right [[buffer(4)]], uint tid [[thread_position_in_grid]]) {
  int64_t start = 0, end = count;
  while (start < end) {
    const int64_t mid = start + ((end - start) >> 1);
    if (right ? !(data_bd[mid] > data_in[tid]) : !(data_bd[mid] >= data_in[tid])) {
      start = mid + 1;
    } else {
      end = mid;
    }
  }
  data_out[tid] = static_cast<output_t>(start);
}
template [[host_name("searchsorted_half_int")]] kernel void searchsorted<half, int>(
    constant half*, constant half*, device int*, constant int64_t&, constant bool&, uint);
template [[host_name("cross_float")]] kernel void cross<float, packed_float3>(
    device packed_float3*, const device packed_float3*, const device packed_float3*,
    constant uint3&, uint);
