// Running sums, products and maxima along the last axis, forwards and backwards.
#include <metal_stdlib>
#include <metal_simdgroup>
using namespace metal;

#define DEFINE_SIMD_SCAN()                                                           \
  template <typename T, metal::enable_if_t<sizeof(T) < 8, bool> = true>              \
  T simd_scan(T val) { return simd_scan_impl(val); }                                 \
  template <typename T, metal::enable_if_t<sizeof(T) == 8, bool> = true>             \
  T simd_scan(T val) {                                                               \
    for (int i = 1; i <= 16; i *= 2) {                                               \
      val = operator()(val, as_type<T>(simd_shuffle_and_fill_up(                     \
                                as_type<uint2>(val), as_type<uint2>(T(init)), i)));  \
    }                                                                                \
    return val;                                                                      \
  }
template <typename U> struct CumSum {
  DEFINE_SIMD_SCAN()
  static constexpr constant U init = static_cast<U>(0);
  template <typename T> U operator()(U a, T b) { return a + b; }
  U simd_scan_impl(U x) { return simd_prefix_inclusive_sum(x); }
};
template <typename U> struct CumProd {
  DEFINE_SIMD_SCAN()
  static constexpr constant U init = static_cast<U>(1.0f);
  template <typename T> U operator()(U a, T b) { return a * b; }
  U simd_scan_impl(U x) { return simd_prefix_inclusive_product(x); }
};
template <typename U> struct CumMax {
  DEFINE_SIMD_SCAN()
  static constexpr constant U init = metal::numeric_limits<U>::lowest();
  template <typename T> U operator()(U a, T b) { return a >= b ? a : b; }
  U simd_scan_impl(U x) {
    for (int i = 1; i <= 16; i *= 2) {
      const U y = simd_shuffle_and_fill_up(x, init, i);
      x = x >= y ? x : y;
    }
    return x;
  }
};

template <typename T> METAL_FUNC T shuffle_up_one(T value) {
  if constexpr (sizeof(T) == 8) {
    return as_type<T>(simd_shuffle_up(as_type<uint2>(value), 1));
  } else {
    return simd_shuffle_up(value, 1);
  }
}

// One row per threadgroup; from block to block the prefix is carried in `prefix`.
template <typename T, typename U, typename Op, int N_READS, bool inclusive, bool reverse>
[[kernel]] void contiguous_scan(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                                const constant size_t& axis_size [[buffer(2)]],
                                uint3 gid [[threadgroup_position_in_grid]],
                                uint3 lid [[thread_position_in_threadgroup]],
                                uint3 lsize [[threads_per_threadgroup]],
                                uint simd_size [[threads_per_simdgroup]],
                                uint simd_lane_id [[thread_index_in_simdgroup]],
                                uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  Op op;
  in += gid.y * axis_size;
  out += gid.y * axis_size;
  const uint simd_groups = lsize.x / simd_size;
  U prefix = Op::init;
  threadgroup U simdgroup_sums[32];
  for (size_t block = 0; block < axis_size; block += N_READS * lsize.x) {
    const size_t first = block + lid.x * N_READS;
    U values[N_READS];
    for (int i = 0; i < N_READS; i++) {
      const size_t at = first + i;
      values[i] = at < axis_size ? U(in[reverse ? axis_size - 1 - at : at]) : Op::init;
    }
    for (int i = 1; i < N_READS; i++) {
      values[i] = op(values[i], values[i - 1]);
    }
    // Of the lanes before this one.
    U before = op.simd_scan(values[N_READS - 1]);
    if (simd_lane_id == simd_size - 1) {
      simdgroup_sums[simd_group_id] = before;
    }
    before = shuffle_up_one(before);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    U groups_before = Op::init, all = Op::init;
    for (uint g = 0; g < simd_groups; g++) {
      if (g == simd_group_id) {
        groups_before = all;
      }
      all = op(all, simdgroup_sums[g]);
    }
    const U start = op(op(prefix, groups_before), simd_lane_id == 0 ? Op::init : before);
    for (int i = 0; i < N_READS; i++) {
      const size_t at = first + i;
      if (at < axis_size) {
        const U exclusive = i == 0 ? start : op(start, values[max(i - 1, 0)]);
        out[reverse ? axis_size - 1 - at : at] = inclusive ? op(start, values[i]) : exclusive;
      }
    }
    prefix = op(prefix, all);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

#define instantiate_scan(name, ...)                                       \
  template [[host_name(name)]] [[kernel]] decltype(contiguous_scan<__VA_ARGS__>) \
  contiguous_scan<__VA_ARGS__>;
instantiate_scan("inclusive_sum_float32", float, float, CumSum<float>, 4, true, false)
instantiate_scan("exclusive_sum_int64", int32_t, int64_t, CumSum<int64_t>, 2, false, false)
instantiate_scan("reverse_inclusive_prod_int32", int32_t, int32_t, CumProd<int32_t>, 4, true, true)
instantiate_scan("reverse_exclusive_max_int16", int16_t, int16_t, CumMax<int16_t>, 4, false, true)
instantiate_scan("inclusive_sum_bool", bool, int32_t, CumSum<int32_t>, 8, true, false)
