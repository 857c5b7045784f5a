// Softmax, layer norm and RMS norm of rows: in one pass over registers, or looped over long rows.
#include <metal_common>
#include <metal_math>
#include <metal_simdgroup>
using namespace metal;

constant bool has_weights [[function_constant(20)]];
#define SIMD_SIZE 32

template <typename T> inline T softmax_exp(T x) {
  return fast::exp(x);  // the argument is at most 0
}

template <typename T, typename AccT = T, int N_READS = 4>
[[kernel]] void softmax_single_row(const device T* in, device T* out, constant int& axis_size,
                                   uint gid [[threadgroup_position_in_grid]],
                                   uint _lid [[thread_position_in_threadgroup]],
                                   uint simd_lane_id [[thread_index_in_simdgroup]],
                                   uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  int lid = _lid;
  threadgroup AccT local_max[SIMD_SIZE];
  threadgroup AccT local_normalizer[SIMD_SIZE];
  AccT ld[N_READS];
  in += gid * size_t(axis_size) + lid * N_READS;
  if (lid * N_READS + N_READS <= axis_size) {
    for (int i = 0; i < N_READS; i++) {
      ld[i] = AccT(in[i]);
    }
  } else {
    for (int i = 0; i < N_READS; i++) {
      ld[i] = ((lid * N_READS + i) < axis_size) ? AccT(in[i]) : numeric_limits<AccT>::lowest();
    }
  }
  if (simd_group_id == 0) {
    local_max[simd_lane_id] = numeric_limits<AccT>::lowest();
    local_normalizer[simd_lane_id] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  AccT maxval = numeric_limits<AccT>::lowest();
  for (int i = 0; i < N_READS; i++) {
    maxval = (maxval < ld[i]) ? ld[i] : maxval;
  }
  maxval = simd_max(maxval);
  if (simd_lane_id == 0) {
    local_max[simd_group_id] = maxval;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_group_id == 0) {
    maxval = simd_max(local_max[simd_lane_id]);
    if (simd_lane_id == 0) {
      local_max[0] = maxval;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  maxval = local_max[0];
  AccT normalizer = 0;
  for (int i = 0; i < N_READS; i++) {
    ld[i] = softmax_exp(ld[i] - maxval);
    normalizer += ld[i];
  }
  normalizer = simd_sum(normalizer);
  if (simd_lane_id == 0) {
    local_normalizer[simd_group_id] = normalizer;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_group_id == 0) {
    normalizer = simd_sum(local_normalizer[simd_lane_id]);
    if (simd_lane_id == 0) {
      local_normalizer[0] = normalizer;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  normalizer = 1 / local_normalizer[0];
  out += gid * size_t(axis_size) + lid * N_READS;
  for (int i = 0; i < N_READS; i++) {
    if ((lid * N_READS + i) < axis_size) {
      out[i] = T(ld[i] * normalizer);
    }
  }
}

template <typename T, typename AccT = T, int N_READS = 4>
[[kernel]] void softmax_looped(const device T* in, device T* out, constant int& axis_size,
                               uint gid [[threadgroup_position_in_grid]],
                               uint lid [[thread_position_in_threadgroup]],
                               uint lsize [[threads_per_threadgroup]],
                               uint simd_lane_id [[thread_index_in_simdgroup]],
                               uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  in += gid * size_t(axis_size);
  out += gid * size_t(axis_size);
  threadgroup AccT local_max[SIMD_SIZE];
  threadgroup AccT local_normalizer[SIMD_SIZE];
  AccT prevmax;
  AccT maxval = numeric_limits<AccT>::lowest();
  AccT normalizer = 0;
  const int rounds = (axis_size + N_READS * int(lsize) - 1) / (N_READS * int(lsize));
  for (int r = 0; r < rounds; r++) {
    const int offset = (r * lsize + lid) * N_READS;
    AccT vals[N_READS];
    for (int i = 0; i < N_READS; i++) {
      vals[i] = (offset + i < axis_size) ? AccT(in[offset + i]) : numeric_limits<AccT>::lowest();
    }
    prevmax = maxval;
    for (int i = 0; i < N_READS; i++) {
      maxval = (maxval < vals[i]) ? vals[i] : maxval;
    }
    normalizer *= softmax_exp(prevmax - maxval);
    for (int i = 0; i < N_READS; i++) {
      normalizer += softmax_exp(vals[i] - maxval);
    }
  }
  prevmax = maxval;
  maxval = simd_max(maxval);
  normalizer *= softmax_exp(prevmax - maxval);
  normalizer = simd_sum(normalizer);
  prevmax = maxval;
  if (simd_lane_id == 0) {
    local_max[simd_group_id] = maxval;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint simd_groups = (lsize + SIMD_SIZE - 1) / SIMD_SIZE;
  const bool holds = simd_lane_id < simd_groups;
  maxval = simd_max(holds ? local_max[simd_lane_id] : numeric_limits<AccT>::lowest());
  normalizer *= softmax_exp(prevmax - maxval);
  if (simd_lane_id == 0) {
    local_normalizer[simd_group_id] = normalizer;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  normalizer = 1 / simd_sum(holds ? local_normalizer[simd_lane_id] : AccT(0));
  for (int r = 0; r < rounds; r++) {
    const int offset = (r * lsize + lid) * N_READS;
    for (int i = 0; i < N_READS; i++) {
      if (offset + i < axis_size) {
        out[offset + i] = T(softmax_exp(AccT(in[offset + i]) - maxval) * normalizer);
      }
    }
  }
}

// Sums of several values at once over a threadgroup; every thread gets them.
template <int N>
inline void threadgroup_sum(thread float* x, threadgroup float* xs, uint simd_lane_id,
                            uint simd_group_id, uint simd_groups) {
  for (int i = 0; i < N; i++) {
    x[i] = simd_sum(x[i]);
  }
  if (simd_groups > 1) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd_lane_id == 0) {
      for (int i = 0; i < N; i++) {
        xs[N * simd_group_id + i] = x[i];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < N; i++) {
      x[i] = simd_sum(simd_lane_id < simd_groups ? xs[N * simd_lane_id + i] : 0);
    }
  }
}

template <typename T, int N_READS = 4>
[[kernel]] void layer_norm(const device T* x, const device T* w, const device T* b, device T* out,
                           constant float& eps, constant uint& axis_size,
                           constant uint& w_stride, constant uint& b_stride,
                           uint gid [[threadgroup_position_in_grid]],
                           uint lid [[thread_position_in_threadgroup]],
                           uint lsize [[threads_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]],
                           uint simd_groups [[simdgroups_per_threadgroup]]) {
  threadgroup float local_buffer[SIMD_SIZE];
  x += gid * size_t(axis_size);
  out += gid * size_t(axis_size);
  float mean = 0;
  for (uint r = lid; r < axis_size; r += lsize) {
    mean += x[r];
  }
  threadgroup_sum<1>(&mean, local_buffer, simd_lane_id, simd_group_id, simd_groups);
  mean /= axis_size;
  float normalizer = 0;
  for (uint r = lid; r < axis_size; r += lsize) {
    const float t = x[r] - mean;
    normalizer += t * t;
  }
  threadgroup_sum<1>(&normalizer, local_buffer, simd_lane_id, simd_group_id, simd_groups);
  normalizer = metal::precise::rsqrt(normalizer / axis_size + eps);
  for (uint r = lid * N_READS; r < axis_size; r += lsize * N_READS) {
    for (uint i = r; i < min(r + N_READS, axis_size); i++) {
      const T t = static_cast<T>((x[i] - mean) * normalizer);
      out[i] = w[w_stride * i] * t + b[b_stride * i];
    }
  }
}

template <typename T, int N_READS = 4>
[[kernel]] void rms_norm(const device T* x, const device T* w [[function_constant(has_weights)]],
                         device T* out, constant float& eps, constant uint& axis_size,
                         uint gid [[threadgroup_position_in_grid]],
                         uint lid [[thread_position_in_threadgroup]],
                         uint simd_lane_id [[thread_index_in_simdgroup]],
                         uint simd_group_id [[simdgroup_index_in_threadgroup]]) {
  threadgroup float local_inv_mean[1];
  threadgroup float local_sums[SIMD_SIZE];
  float acc = 0;
  x += gid * size_t(axis_size) + lid * N_READS;
  const bool whole = lid * N_READS + N_READS <= axis_size;
  for (int i = 0; i < N_READS; i++) {
    if (whole || lid * N_READS + i < axis_size) {
      const float xi = x[i];
      acc += xi * xi;
    }
  }
  acc = simd_sum(acc);
  if (simd_group_id == 0) {
    local_sums[simd_lane_id] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_lane_id == 0) {
    local_sums[simd_group_id] = acc;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_group_id == 0) {
    acc = simd_sum(local_sums[simd_lane_id]);
    if (simd_lane_id == 0) {
      local_inv_mean[0] = metal::precise::rsqrt(acc / axis_size + eps);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out += gid * size_t(axis_size) + lid * N_READS;
  for (int i = 0; i < N_READS; i++) {
    if (whole || lid * N_READS + i < axis_size) {
      T y = static_cast<T>(x[i] * local_inv_mean[0]);
      if (has_weights) {
        y = w[lid * N_READS + i] * y;
      }
      out[i] = y;
    }
  }
}

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;
instantiate_kernel("block_softmax_float32", softmax_single_row, float)
instantiate_kernel("block_softmax_precise_float16", softmax_single_row, half, float)
instantiate_kernel("looped_softmax_float32", softmax_looped, float)
instantiate_kernel("looped_softmax_precise_bfloat16", softmax_looped, bfloat, float)
instantiate_kernel("layer_normfloat32", layer_norm, float)
instantiate_kernel("layer_normfloat16", layer_norm, half)
instantiate_kernel("rmsfloat32", rms_norm, float)
instantiate_kernel("rmsbfloat16", rms_norm, bfloat)
