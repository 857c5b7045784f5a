// Reductions of all elements, of rows and of columns, and the place of the least or greatest.
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_atomic>
using namespace metal;

static constant constexpr const int REDUCE_N_READS = 4;
static constant constexpr const uint simd_size = 32;

template <typename U> struct Limits {
  static const constant U max = metal::numeric_limits<U>::max();
  static const constant U min = metal::numeric_limits<U>::min();
};
template <> struct Limits<float> {
  static constexpr constant float max = metal::numeric_limits<float>::infinity();
  static constexpr constant float min = -metal::numeric_limits<float>::infinity();
};
template <> struct Limits<half> {
  static constexpr constant half max = metal::numeric_limits<half>::infinity();
  static constexpr constant half min = -metal::numeric_limits<half>::infinity();
};

#define DEFINE_SIMD_REDUCE()                                                        \
  template <typename T, metal::enable_if_t<sizeof(T) < 8, bool> = true>              \
  T simd_reduce(T val) { return simd_reduce_impl(val); }                             \
  template <typename T, metal::enable_if_t<sizeof(T) == 8, bool> = true>             \
  T simd_reduce(T val) {                                                             \
    for (short i = simd_size / 2; i > 0; i /= 2) {                                   \
      val = operator()(val, shuffle_down_wide(val, i));                              \
    }                                                                                \
    return val;                                                                      \
  }

// Lanes exchange 32 bits; longer values go as two.
template <typename T> METAL_FUNC T shuffle_down_wide(T value, ushort delta) {
  return as_type<T>(metal::simd_shuffle_down(as_type<uint2>(value), delta));
}

template <typename U> struct Sum {
  DEFINE_SIMD_REDUCE()
  static constexpr constant U init = static_cast<U>(0);
  template <typename T> T simd_reduce_impl(T val) { return simd_sum(val); }
  U operator()(U a, U b) { return a + b; }
  void atomic_update(device atomic<float>* out, float val) {
    atomic_fetch_add_explicit(out, val, memory_order_relaxed);
  }
  void atomic_update(device atomic<int>* out, int val) {
    atomic_fetch_add_explicit(out, val, memory_order_relaxed);
  }
};
template <typename U> struct Max {
  DEFINE_SIMD_REDUCE()
  static constexpr constant U init = Limits<U>::min;
  // A NaN among the values is the result.
  template <typename T> metal::enable_if_t<metal::is_integral_v<T>, T> simd_reduce_impl(T val) {
    return simd_max(val);
  }
  template <typename T> metal::enable_if_t<!metal::is_integral_v<T>, T> simd_reduce_impl(T val) {
    if (simd_any(val != val)) {
      return static_cast<T>(NAN);
    }
    return simd_max(val);
  }
  template <typename T> metal::enable_if_t<metal::is_integral_v<T>, T> operator()(T a, T b) {
    return a > b ? a : b;
  }
  template <typename T> metal::enable_if_t<!metal::is_integral_v<T>, T> operator()(T a, T b) {
    if (metal::isnan(a) || metal::isnan(b)) {
      return static_cast<T>(NAN);
    }
    return a > b ? a : b;
  }
};
struct And {
  static constexpr constant bool init = true;
  bool simd_reduce(bool val) { return simd_all(val); }
  bool operator()(bool a, bool b) { return a && b; }
};

// One threadgroup takes one row of `row_size`; several rows are several threadgroups in y.
template <typename T, typename U, typename Op>
[[kernel]] void row_reduce(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                           const constant uint& row_size [[buffer(2)]],
                           uint3 gid [[threadgroup_position_in_grid]],
                           uint3 lid [[thread_position_in_threadgroup]],
                           uint3 lsize [[threads_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_per_group [[simdgroups_per_threadgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  Op op;
  threadgroup U shared_vals[simd_size];
  in += gid.y * size_t(row_size);
  U total = Op::init;
  uint i = lid.x * REDUCE_N_READS;
  for (; i + REDUCE_N_READS <= row_size; i += lsize.x * REDUCE_N_READS) {
    for (int r = 0; r < REDUCE_N_READS; r++) {
      total = op(static_cast<U>(in[i + r]), total);
    }
  }
  for (; i < row_size; i++) {
    total = op(static_cast<U>(in[i]), total);
    if ((i + 1) % REDUCE_N_READS == 0) break;
  }
  total = op.simd_reduce(total);
  if (simd_per_group > 1) {
    if (simd_lane_id == 0) {
      shared_vals[simd_group_id] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    total = lid.x < simd_per_group ? shared_vals[lid.x] : Op::init;
    total = op.simd_reduce(total);
  }
  if (lid.x == 0) {
    out[gid.y] = total;
  }
}

// A threadgroup of BN x BM: it walks down BN * n_reads columns, then meets in threadgroup memory.
template <typename T, typename U, typename Op, int BM, int BN>
[[kernel]] void col_reduce(const device T* in [[buffer(0)]], device U* out [[buffer(1)]],
                           const constant int& rows [[buffer(2)]],
                           const constant int& columns [[buffer(3)]],
                           uint3 gid [[threadgroup_position_in_grid]],
                           uint2 lid [[thread_position_in_threadgroup]]) {
  constexpr int n_reads = 2;
  threadgroup U partials[BM * BN * n_reads];
  Op op;
  U totals[n_reads];
  for (int i = 0; i < n_reads; i++) {
    totals[i] = Op::init;
  }
  const int first = (gid.x * BN + lid.x) * n_reads;
  for (int r = lid.y; r < rows; r += BM) {
    for (int i = 0; i < n_reads && first + i < columns; i++) {
      totals[i] = op(static_cast<U>(in[size_t(r) * columns + first + i]), totals[i]);
    }
  }
  for (int i = 0; i < n_reads; i++) {
    partials[(lid.y * BN + lid.x) * n_reads + i] = totals[i];
  }
  for (int step = BM / 2; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (int(lid.y) < step) {
      for (int i = 0; i < n_reads; i++) {
        const int at = (lid.y * BN + lid.x) * n_reads + i;
        partials[at] = op(partials[at + step * BN * n_reads], partials[at]);
      }
    }
  }
  if (lid.y == 0) {
    for (int i = 0; i < n_reads && first + i < columns; i++) {
      out[first + i] = partials[lid.x * n_reads + i];
    }
  }
}

// Every threadgroup adds its part to one total.
template <typename T, typename U, typename Op>
[[kernel]] void all_reduce(const device T* in [[buffer(0)]], device atomic<U>* out [[buffer(1)]],
                           const constant ulong& in_size [[buffer(2)]],
                           uint gid [[thread_position_in_grid]], uint lid [[thread_index_in_threadgroup]],
                           uint grid_size [[threads_per_grid]],
                           uint simd_per_group [[simdgroups_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  Op op;
  threadgroup U local_vals[simd_size];
  U total = Op::init;
  for (ulong i = gid; i < in_size; i += grid_size) {
    total = op(static_cast<U>(in[i]), total);
  }
  total = op.simd_reduce(total);
  if (simd_lane_id == 0) {
    local_vals[simd_group_id] = total;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = op.simd_reduce(lid < simd_per_group ? local_vals[lid] : Op::init);
  if (lid == 0) {
    op.atomic_update(out, total);
  }
}

template <typename U> struct IndexValPair {
  uint32_t index;
  U val;
  IndexValPair(uint32_t _index, U _val) : index(_index), val(_val) {}
};

// Of equal values the first.
template <typename U> struct ArgMin {
  static constexpr constant U init = Limits<U>::max;
  IndexValPair<U> reduce(IndexValPair<U> best, IndexValPair<U> current) {
    return best.val > current.val || (best.val == current.val && best.index > current.index)
        ? current
        : best;
  }
};
template <typename U> struct ArgMax {
  static constexpr constant U init = Limits<U>::min;
  IndexValPair<U> reduce(IndexValPair<U> best, IndexValPair<U> current) {
    return best.val < current.val || (best.val == current.val && best.index > current.index)
        ? current
        : best;
  }
};

template <typename U>
IndexValPair<U> simd_shuffle_down(IndexValPair<U> data, uint16_t delta) {
  return IndexValPair<U>(metal::simd_shuffle_down(data.index, delta),
                         metal::simd_shuffle_down(data.val, delta));
}

template <typename T, typename Op>
[[kernel]] void arg_reduce(const device T* in [[buffer(0)]], device uint32_t* out [[buffer(1)]],
                           const constant size_t& axis_stride [[buffer(2)]],
                           const constant uint& axis_size [[buffer(3)]],
                           uint3 gid [[thread_position_in_grid]],
                           uint3 lid [[thread_position_in_threadgroup]],
                           uint3 lsize [[threads_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  Op op;
  threadgroup uint32_t indices[simd_size];
  threadgroup T vals[simd_size];
  IndexValPair<T> best{0, Op::init};
  for (uint r = lid.x; r < axis_size; r += lsize.x) {
    best = op.reduce(best, IndexValPair<T>(r, in[gid.y + r * axis_stride]));
  }
  for (uint16_t offset = simd_size / 2; offset > 0; offset /= 2) {
    best = op.reduce(best, simd_shuffle_down(best, offset));
  }
  const uint simd_groups = (lsize.x + simd_size - 1) / simd_size;
  if (simd_lane_id == 0) {
    indices[simd_group_id] = best.index;
    vals[simd_group_id] = best.val;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_group_id != 0) {
    return;
  }
  best = simd_lane_id < simd_groups ? IndexValPair<T>(indices[simd_lane_id], vals[simd_lane_id])
                                    : IndexValPair<T>(0xffffffff, Op::init);
  for (uint16_t offset = simd_size / 2; offset > 0; offset /= 2) {
    best = op.reduce(best, simd_shuffle_down(best, offset));
  }
  if (simd_lane_id == 0) {
    out[gid.y] = best.index;
  }
}

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;

instantiate_kernel("row_sum_float32", row_reduce, float, float, Sum<float>)
instantiate_kernel("row_sum_int64", row_reduce, int32_t, int64_t, Sum<int64_t>)
instantiate_kernel("row_max_float16", row_reduce, half, half, Max<half>)
instantiate_kernel("row_max_int8", row_reduce, int8_t, int8_t, Max<int8_t>)
instantiate_kernel("row_and_bool", row_reduce, bool, bool, And)
instantiate_kernel("col_sum_bfloat16", col_reduce, bfloat, float, Sum<float>, 8, 8)
instantiate_kernel("col_max_int32", col_reduce, int32_t, int32_t, Max<int32_t>, 4, 16)
instantiate_kernel("all_sum_float32", all_reduce, float, float, Sum<float>)
instantiate_kernel("all_sum_uint8", all_reduce, uint8_t, int, Sum<int>)
instantiate_kernel("argmin_float32", arg_reduce, float, ArgMin<float>)
instantiate_kernel("argmax_int16", arg_reduce, int16_t, ArgMax<int16_t>)
