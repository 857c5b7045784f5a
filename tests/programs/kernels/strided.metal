// Operations on arrays of any shape and strides, written once and instantiated by macros.
#include <metal_stdlib>
using namespace metal;

// A complex number with the operators that the operations need.
struct complex64_t {
  float real;
  float imag;
  constexpr complex64_t() : real(0), imag(0) {}
  constexpr complex64_t(float r, float i) : real(r), imag(i) {}
  template <typename T, typename = metal::enable_if_t<metal::is_arithmetic_v<T>>>
  constexpr complex64_t(T x) thread : real(x), imag(0) {}
  template <typename T, typename = metal::enable_if_t<metal::is_arithmetic_v<T>>>
  constexpr complex64_t(T x) constant : real(x), imag(0) {}
  constexpr operator bool() const thread { return real != 0 || imag != 0; }
};
constexpr complex64_t operator+(complex64_t a, complex64_t b) {
  return {a.real + b.real, a.imag + b.imag};
}
constexpr complex64_t operator*(complex64_t a, complex64_t b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
constexpr bool operator==(complex64_t a, complex64_t b) {
  return a.real == b.real && a.imag == b.imag;
}

struct Add {
  template <typename T> T operator()(T x, T y) { return x + y; }
};
struct Multiply {
  template <typename T> T operator()(T x, T y) { return x * y; }
};
struct Equal {
  template <typename T> bool operator()(T x, T y) { return x == y; }
};
// With the sign of the divisor.
struct Remainder {
  template <typename T>
  metal::enable_if_t<metal::is_integral_v<T> & !metal::is_signed_v<T>, T> operator()(T x, T y) {
    return x % y;
  }
  template <typename T>
  metal::enable_if_t<metal::is_integral_v<T> & metal::is_signed_v<T>, T> operator()(T x, T y) {
    auto r = x % y;
    if (r != 0 && (r < 0 != y < 0)) {
      r += y;
    }
    return r;
  }
  template <typename T>
  metal::enable_if_t<!metal::is_integral_v<T>, T> operator()(T x, T y) {
    T r = fmod(x, y);
    if (r != 0 && (r < 0 != y < 0)) {
      r += y;
    }
    return r;
  }
};
struct LogAddExp {
  template <typename T> T operator()(T x, T y) {
    if (metal::isnan(x) || metal::isnan(y)) {
      return metal::numeric_limits<T>::quiet_NaN();
    }
    constexpr T inf = metal::numeric_limits<T>::infinity();
    T maxval = metal::max(x, y);
    T minval = metal::min(x, y);
    return (minval == -inf || maxval == inf)
        ? maxval
        : T(maxval + metal::log(1.0f + metal::exp(float(minval - maxval))));
  }
};
struct BitwiseXor {
  template <typename T> T operator()(T x, T y) { return x ^ y; }
};

template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc(IdxT elem, constant const int* shape, constant const int64_t* strides,
                            int ndim) {
  IdxT loc = 0;
  for (int i = ndim - 1; i >= 0 && elem > 0; --i) {
    loc += (elem % shape[i]) * IdxT(strides[i]);
    elem /= shape[i];
  }
  return loc;
}
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc_1(uint elem, constant const int64_t& stride) {
  return elem * IdxT(stride);
}
template <typename IdxT = int64_t>
METAL_FUNC IdxT elem_to_loc_3(uint3 elem, constant const int64_t strides[3]) {
  return elem.x * IdxT(strides[2]) + elem.y * IdxT(strides[1]) + elem.z * IdxT(strides[0]);
}
// Where an element is in two arrays at once.
template <typename IdxT = int64_t>
METAL_FUNC vec<IdxT, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape,
                                         constant const int64_t* a_strides,
                                         constant const int64_t* b_strides, int ndim) {
  vec<IdxT, 2> loc = {
      IdxT(elem.x * IdxT(a_strides[ndim - 1]) + IdxT(elem.y) * IdxT(a_strides[ndim - 2])),
      IdxT(elem.x * IdxT(b_strides[ndim - 1]) + elem.y * IdxT(b_strides[ndim - 2]))};
  for (int d = ndim - 3; d >= 0; --d) {
    uint l = elem.z % shape[d];
    loc.x += l * IdxT(a_strides[d]);
    loc.y += l * IdxT(b_strides[d]);
    elem.z /= shape[d];
  }
  return loc;
}

// Several elements per thread; the last thread takes what is left.
template <typename T, typename U, typename Op, int N = 8 / sizeof(T)>
[[kernel]] void binary_vv(device const T* a, device const T* b, device U* c,
                          constant uint& size, uint index [[thread_position_in_grid]]) {
  index *= N;
  if (N > 1 && index + N > size) {
    for (int i = 0; index + i < size; ++i) {
      c[index + i] = Op()(a[index + i], b[index + i]);
    }
  } else {
    for (int i = 0; i < N; ++i) {
      c[index + i] = Op()(a[index + i], b[index + i]);
    }
  }
}

template <typename T, typename U, typename Op>
[[kernel]] void binary_g(device const T* a, device const T* b, device U* c,
                         constant const int* shape, constant const int64_t* a_strides,
                         constant const int64_t* b_strides, constant const int& ndim,
                         uint3 index [[thread_position_in_grid]],
                         uint3 grid_dim [[threads_per_grid]]) {
  auto idx = elem_to_loc_2_nd<int64_t>(index, shape, a_strides, b_strides, ndim);
  size_t out_idx = index.x + grid_dim.x * (index.y + size_t(grid_dim.y) * index.z);
  c[out_idx] = Op()(a[idx.x], b[idx.y]);
}

template <typename T, typename U>
[[kernel]] void copy_gg(device const T* src [[buffer(0)]], device U* dst [[buffer(1)]],
                        constant const int* src_shape [[buffer(2)]],
                        constant const int64_t* src_strides [[buffer(3)]],
                        constant const int64_t* dst_strides [[buffer(4)]],
                        constant const int& ndim [[buffer(5)]],
                        uint index [[thread_position_in_grid]]) {
  auto src_idx = elem_to_loc<int>(index, src_shape, src_strides, ndim);
  auto dst_idx = elem_to_loc<int>(index, src_shape, dst_strides, ndim);
  dst[dst_idx] = static_cast<U>(src[src_idx]);
}

template <typename T>
[[kernel]] void gather_last(device const T* src, device const int* indices, device T* out,
                            constant const int64_t& src_stride, constant const uint& width,
                            uint2 index [[thread_position_in_grid]]) {
  const int row = indices[index.y] < 0 ? indices[index.y] + int(width) : indices[index.y];
  out[index.y] = src[elem_to_loc_1<uint>(row, src_stride)];
}

template <typename T>
[[kernel]] void copy_3d(device const T* src, device T* dst, constant const int64_t strides[3],
                        uint3 index [[thread_position_in_grid]],
                        uint3 grid_dim [[threads_per_grid]]) {
  dst[index.x + (int64_t)grid_dim.x * (index.y + (int64_t)grid_dim.y * index.z)] =
      src[elem_to_loc_3(index, strides)];
}

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;
#define instantiate_binary(op, tname, itype, otype)                          \
  instantiate_kernel("vv_" #op #tname, binary_vv, itype, otype, op)           \
  instantiate_kernel("g_" #op #tname, binary_g, itype, otype, op)
#define instantiate_binary_all(op)                   \
  instantiate_binary(op, int8, int8_t, int8_t)       \
  instantiate_binary(op, uint16, uint16_t, uint16_t) \
  instantiate_binary(op, int32, int32_t, int32_t)    \
  instantiate_binary(op, float16, half, half)        \
  instantiate_binary(op, float32, float, float)      \
  instantiate_binary(op, bfloat16, bfloat, bfloat)

instantiate_binary_all(Add)
instantiate_binary_all(Multiply)
instantiate_binary_all(Remainder)
instantiate_binary(Multiply, complex64, complex64_t, complex64_t)
instantiate_binary(Equal, complex64, complex64_t, bool)
instantiate_binary(LogAddExp, float32, float, float)
instantiate_binary(LogAddExp, float16, half, half)
instantiate_binary(BitwiseXor, int64, int64_t, int64_t)
instantiate_binary(BitwiseXor, bool_, bool, bool)
instantiate_kernel("gg_copybool_float32", copy_gg, bool, float)
instantiate_kernel("gg_copyfloat32_bfloat16", copy_gg, float, bfloat)
instantiate_kernel("gg_copyfloat32_complex64", copy_gg, float, complex64_t)
instantiate_kernel("gather_lastint64", gather_last, int64_t)
instantiate_kernel("copy_3duint8", copy_3d, uint8_t)
