// Names that kernels given to metal_kernel may use besides those of Metal: MLX's own types and
// helpers, with the behaviour that its documentation and sources describe.
#include <metal_stdlib>
using namespace metal;

typedef half float16_t;
typedef bfloat bfloat16_t;

inline uint16_t bfloat16_to_uint16(const bfloat16_t x) { return as_type<uint16_t>(x); }
inline bfloat16_t uint16_to_bfloat16(const uint16_t x) { return as_type<bfloat16_t>(x); }

#define MLX_MTL_CONST static constant constexpr const
#define MTL_CONST constant
#define MLX_MTL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")
#define instantiate_kernel(name, function, ...) \
  template [[host_name(name)]] [[kernel]] decltype(function<__VA_ARGS__>) function<__VA_ARGS__>;

// Complex numbers: two components side by side.

template <typename T>
struct complex_t {
  using value_type = T;
  T real;
  T imag;
  constexpr complex_t() : real(0), imag(0) {}
  constexpr complex_t(T re, T im) : real(re), imag(im) {}
  template <typename U, typename = enable_if_t<is_arithmetic_v<U>>>
  constexpr complex_t(U re) : real(static_cast<T>(re)), imag(0) {}
  template <typename U, typename = enable_if_t<is_arithmetic_v<U>>>
  constexpr operator U() const { return static_cast<U>(real); }
};

typedef complex_t<float> complex64_t;
typedef complex_t<half> complex32_t;

template <typename T> constant constexpr bool is_complex_v = false;
template <typename T> constant constexpr bool is_complex_v<complex_t<T>> = true;

template <typename T> constexpr complex_t<T> operator-(complex_t<T> a) { return {-a.real, -a.imag}; }
template <typename T> constexpr complex_t<T> operator+(complex_t<T> a, complex_t<T> b) {
  return {a.real + b.real, a.imag + b.imag};
}
template <typename T> constexpr complex_t<T> operator-(complex_t<T> a, complex_t<T> b) {
  return {a.real - b.real, a.imag - b.imag};
}
template <typename T> constexpr complex_t<T> operator*(complex_t<T> a, complex_t<T> b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
template <typename T> constexpr complex_t<T> operator/(complex_t<T> a, complex_t<T> b) {
  T size = b.real * b.real + b.imag * b.imag;
  return {(a.real * b.real + a.imag * b.imag) / size, (a.imag * b.real - a.real * b.imag) / size};
}
template <typename T> constexpr bool operator==(complex_t<T> a, complex_t<T> b) {
  return a.real == b.real && a.imag == b.imag;
}
// Ordered by the real component first.
template <typename T> constexpr bool operator<(complex_t<T> a, complex_t<T> b) {
  return a.real < b.real || (a.real == b.real && a.imag < b.imag);
}
template <typename T> constexpr bool operator>(complex_t<T> a, complex_t<T> b) { return b < a; }
template <typename T> constexpr bool operator<=(complex_t<T> a, complex_t<T> b) {
  return a < b || a == b;
}
template <typename T> constexpr bool operator>=(complex_t<T> a, complex_t<T> b) { return b <= a; }

#define ASSAY_MLX_MIXED(op)                                                             \
  template <typename T, typename U, typename = enable_if_t<is_arithmetic_v<U>>>         \
  constexpr complex_t<T> operator op(complex_t<T> a, U b) { return a op complex_t<T>(b); } \
  template <typename T, typename U, typename = enable_if_t<is_arithmetic_v<U>>>         \
  constexpr complex_t<T> operator op(U a, complex_t<T> b) { return complex_t<T>(a) op b; }
ASSAY_MLX_MIXED(+)
ASSAY_MLX_MIXED(-)
ASSAY_MLX_MIXED(*)
ASSAY_MLX_MIXED(/)
#undef ASSAY_MLX_MIXED

template <typename T> thread complex_t<T>& operator+=(thread complex_t<T>& a, complex_t<T> b) {
  return a = a + b;
}
template <typename T> device complex_t<T>& operator+=(device complex_t<T>& a, complex_t<T> b) {
  return a = a + b;
}
template <typename T>
threadgroup complex_t<T>& operator+=(threadgroup complex_t<T>& a, complex_t<T> b) {
  return a = a + b;
}

// Limits: the ends of what a type holds, infinite where it has infinities.

template <typename U>
struct Limits {
  static constexpr constant U max = numeric_limits<U>::max();
  static constexpr constant U min = numeric_limits<U>::lowest();
  static constexpr constant U finite_max = numeric_limits<U>::max();
  static constexpr constant U finite_min = numeric_limits<U>::lowest();
};

#define ASSAY_MLX_LIMITS(T)                                                  \
  template <>                                                                \
  struct Limits<T> {                                                         \
    static constexpr constant T max = numeric_limits<T>::infinity();         \
    static constexpr constant T min = -numeric_limits<T>::infinity();        \
    static constexpr constant T finite_max = numeric_limits<T>::max();       \
    static constexpr constant T finite_min = -numeric_limits<T>::max();      \
  };
ASSAY_MLX_LIMITS(half)
ASSAY_MLX_LIMITS(float)
ASSAY_MLX_LIMITS(bfloat)
#undef ASSAY_MLX_LIMITS

template <>
struct Limits<bool> {
  static constexpr constant bool max = true;
  static constexpr constant bool min = false;
};

// Where an element lies in an array of any strides, by its number or its position.

template <typename IdxT = int64_t>
IdxT elem_to_loc(IdxT elem, constant const int* shape, constant const int64_t* strides, int ndim) {
  IdxT place = 0;
  for (int d = ndim - 1; d >= 0 && elem > 0; --d) {
    place += (elem % shape[d]) * IdxT(strides[d]);
    elem /= shape[d];
  }
  return place;
}

template <typename IdxT = int64_t>
IdxT elem_to_loc(uint3 elem, constant const int* shape, constant const int64_t* strides, int ndim) {
  IdxT place = elem.x * IdxT(strides[ndim - 1]) + elem.y * IdxT(strides[ndim - 2]);
  for (int d = ndim - 3; d >= 0; --d) {
    place += (elem.z % shape[d]) * IdxT(strides[d]);
    elem.z /= shape[d];
  }
  return place;
}

template <typename IdxT = int64_t>
IdxT elem_to_loc_1(uint elem, constant const int64_t& stride) {
  return elem * IdxT(stride);
}

template <typename IdxT = int64_t>
IdxT elem_to_loc_2(uint2 elem, constant const int64_t strides[2]) {
  return elem.x * IdxT(strides[1]) + elem.y * IdxT(strides[0]);
}

template <typename IdxT = int64_t>
IdxT elem_to_loc_3(uint3 elem, constant const int64_t strides[3]) {
  return elem.x * IdxT(strides[2]) + elem.y * IdxT(strides[1]) + elem.z * IdxT(strides[0]);
}

template <typename IdxT = int64_t>
vec<IdxT, 2> elem_to_loc_2_nd(uint3 elem, constant const int* shape,
                              constant const int64_t* a_strides,
                              constant const int64_t* b_strides, int ndim) {
  return {elem_to_loc<IdxT>(elem, shape, a_strides, ndim),
          elem_to_loc<IdxT>(elem, shape, b_strides, ndim)};
}

template <typename IdxT = int64_t>
vec<IdxT, 3> elem_to_loc_3_nd(uint3 elem, constant const int* shape,
                              constant const int64_t* a_strides,
                              constant const int64_t* b_strides,
                              constant const int64_t* c_strides, int ndim) {
  return {elem_to_loc<IdxT>(elem, shape, a_strides, ndim),
          elem_to_loc<IdxT>(elem, shape, b_strides, ndim),
          elem_to_loc<IdxT>(elem, shape, c_strides, ndim)};
}

// Arithmetic.

template <typename T, typename U>
inline T ceildiv(T n, U m) {
  return (n + m - 1) / m;
}

// Accurate near zero, by the exact error of 1 + x.
inline float log1p(float x) {
  float sum = 1.0f + x;
  if (sum == 1.0f) return x;
  if (sum == INFINITY) return sum;
  return x * (metal::log(sum) / (sum - 1.0f));
}
inline bfloat log1p(bfloat x) { return bfloat(log1p(float(x))); }
inline complex64_t log1p(complex64_t z) {
  float grown = z.real * (2 + z.real) + z.imag * z.imag;
  return {0.5f * log1p(grown), metal::atan2(z.imag, z.real + 1)};
}

template <typename U, typename T>
inline U cast_to(T value) {
  return static_cast<U>(value);
}
template <>
inline bool cast_to<bool, complex64_t>(complex64_t value) {
  return value.real != 0 || value.imag != 0;
}

template <bool condition, typename T, typename U>
struct ConditionalType {
  using type = U;
};
template <typename T, typename U>
struct ConditionalType<true, T, U> {
  using type = T;
};

template <typename U>
struct WorkPerThread {
  static_assert(sizeof(U) <= 8, "Type too large");
  static constexpr int constant n = 8 / sizeof(U);
};

// Shuffles of types that Metal's own do not take.

#define ASSAY_MLX_SHUFFLE_AS(name, T, Pair, Amount)                                \
  inline T name(T data, Amount amount) {                                           \
    return as_type<T>(metal::name(as_type<Pair>(data), amount));                   \
  }
#define ASSAY_MLX_SHUFFLE(name)                                                    \
  ASSAY_MLX_SHUFFLE_AS(name, uint64_t, uint2, uint16_t)                            \
  ASSAY_MLX_SHUFFLE_AS(name, int64_t, uint2, uint16_t)                             \
  inline bool name(bool data, uint16_t amount) {                                   \
    return metal::name(static_cast<uint>(data), amount) != 0;                      \
  }                                                                                \
  inline complex64_t name(complex64_t data, uint16_t amount) {                     \
    return {metal::name(data.real, amount), metal::name(data.imag, amount)};       \
  }
ASSAY_MLX_SHUFFLE(simd_shuffle)
ASSAY_MLX_SHUFFLE(simd_shuffle_down)
ASSAY_MLX_SHUFFLE(simd_shuffle_up)
#undef ASSAY_MLX_SHUFFLE
#undef ASSAY_MLX_SHUFFLE_AS
