// Weights of 2, 3, 4, 6 and 8 bits with a scale and a bias per group: products and packing.
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

#define MTL_CONST static constant constexpr const

MTL_CONST int SIMD_SIZE = 32;

// Bits that are no power of two fill bytes in packs: 8 values in 3 bytes, 4 in 3.
template <int bits> constexpr constant int pack_factor = bits == 3 ? 8 : bits == 6 ? 4 : 8 / bits;
template <int bits>
constexpr constant int bytes_per_pack = (bits & (bits - 1)) == 0 ? 1 : 3;

template <int bits, typename P>
METAL_FUNC uint unpack(P w, int i) {
  if constexpr (bytes_per_pack<bits> == 1) {
    constexpr uint8_t mask = (1 << bits) - 1;
    return (w[0] >> (bits * i)) & mask;
  } else {
    const uint word = w[0] | (uint(w[1]) << 8) | (uint(w[2]) << 16);
    return (word >> (bits * i)) & ((1u << bits) - 1);
  }
}

// y = x W^T for one x per threadgroup row; a simdgroup makes `results` elements of y.
template <typename T, int group_size, int bits>
[[kernel]] void qmv(const device uint8_t* w [[buffer(0)]], const device T* scales [[buffer(1)]],
                    const device T* biases [[buffer(2)]], const device T* x [[buffer(3)]],
                    device T* y [[buffer(4)]], const constant int& in_vec_size [[buffer(5)]],
                    const constant int& out_vec_size [[buffer(6)]],
                    uint3 tid [[threadgroup_position_in_grid]],
                    uint simd_gid [[simdgroup_index_in_threadgroup]],
                    uint simd_lid [[thread_index_in_simdgroup]]) {
  constexpr int results = 4, num_simdgroups = 2;
  constexpr int pack = pack_factor<bits>, pack_bytes = bytes_per_pack<bits>;
  constexpr int per_thread = 8;
  static_assert(per_thread % pack == 0 && group_size % per_thread == 0, "a thread has one group");
  typedef float U;

  const int in_vec_size_w = in_vec_size / pack * pack_bytes;
  const int in_vec_size_g = in_vec_size / group_size;
  const int out_row = tid.y * (num_simdgroups * results) + simd_gid * results;
  x += tid.x * in_vec_size;
  y += tid.x * out_vec_size;
  thread U result[results] = {0};
  for (int k = simd_lid * per_thread; k < in_vec_size; k += SIMD_SIZE * per_thread) {
    U x_thread[per_thread];
    U sum = 0;
    for (int i = 0; i < per_thread; i++) {
      x_thread[i] = x[k + i];
      sum += x_thread[i];
    }
    for (int row = 0; row < results && out_row + row < out_vec_size; row++) {
      auto wl = w + (out_row + row) * in_vec_size_w + k / pack * pack_bytes;
      const device T* sl = scales + (out_row + row) * in_vec_size_g + k / group_size;
      const device T* bl = biases + (out_row + row) * in_vec_size_g + k / group_size;
      U accum = 0;
      for (int p = 0; p < per_thread / pack; p++) {
        for (int i = 0; i < pack; i++) {
          accum += x_thread[p * pack + i] * unpack<bits>(wl + p * pack_bytes, i);
        }
      }
      result[row] += static_cast<U>(sl[0]) * accum + sum * static_cast<U>(bl[0]);
    }
  }
  for (int row = 0; row < results; row++) {
    result[row] = simd_sum(result[row]);
    if (simd_lid == 0 && out_row + row < out_vec_size) {
      y[out_row + row] = static_cast<T>(result[row]);
    }
  }
}

// A simdgroup packs groups: least and greatest by lanes, then its quants.
template <typename T, int group_size, int bits>
[[kernel]] void affine_quantize(const device T* w [[buffer(0)]], device uint8_t* out [[buffer(1)]],
                                device T* scales [[buffer(2)]], device T* biases [[buffer(3)]],
                                uint2 index [[thread_position_in_grid]],
                                uint2 grid_dim [[threads_per_grid]]) {
  constexpr float eps = 1e-7;
  constexpr float n_bins = (1 << bits) - 1;
  constexpr int pack = pack_factor<bits>, pack_bytes = bytes_per_pack<bits>;
  constexpr int values_per_lane = group_size / SIMD_SIZE;
  constexpr int writes_per_pack = pack / values_per_lane > 1 ? pack / values_per_lane : 1;
  const size_t offset = index.x + grid_dim.x * size_t(index.y);
  const size_t in_index = offset * values_per_lane, gindex = in_index / group_size;
  float w_thread[values_per_lane];
  float w_min = numeric_limits<float>::max(), w_max = -numeric_limits<float>::max();
  #pragma clang loop unroll(full)
  for (int i = 0; i < values_per_lane; i++) {
    const float val = w[in_index + i];
    w_thread[i] = val;
    w_min = min(w_min, val);
    w_max = max(w_max, val);
  }
  w_min = simd_min(w_min);
  w_max = simd_max(w_max);
  float scale = max((w_max - w_min) / n_bins, eps);
  const bool side = abs(w_min) > abs(w_max);
  scale = side ? scale : -scale;
  const float edge = side ? w_min : w_max;
  const float q0 = round(edge / scale);
  const bool at_zero = q0 == 0.0f;
  scale = at_zero ? scale : edge / q0;
  const float bias = at_zero ? 0 : edge;
  if (in_index % group_size == 0) {
    scales[gindex] = static_cast<T>(scale);
    biases[gindex] = static_cast<T>(bias);
  }
  uint output = 0;
  #pragma clang loop unroll(full)
  for (int i = 0; i < values_per_lane; i++) {
    const uint8_t val = min(round((w_thread[i] - bias) / scale), n_bins);
    output |= uint(val) << (bits * (i % pack));
    if (pack < values_per_lane && i % pack == pack - 1) {
      out[in_index / pack * pack_bytes + i / pack] = output;
      output = 0;
    }
  }
  #pragma clang loop unroll(full)
  for (int i = 1; i < writes_per_pack; i++) {
    output |= simd_shuffle_down(output, i) << (bits * values_per_lane * i);
  }
  if (pack >= values_per_lane && offset % writes_per_pack == 0) {
    for (int b = 0; b < pack_bytes; b++) {
      out[in_index / pack * pack_bytes + b] = output >> (8 * b) & 0xff;
    }
  }
}

#define instantiate_kernel(name, func, ...) \
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>;
#define instantiate_quantized(type, group, bits)                                      \
  instantiate_kernel("qmv_" #type "_gs_" #group "_b_" #bits, qmv, type, group, bits) \
  instantiate_kernel("quantize_" #type "_gs_" #group "_b_" #bits, affine_quantize, type, group, bits)
#define instantiate_groups(type, bits) \
  instantiate_quantized(type, 32, bits) instantiate_quantized(type, 64, bits)
#define instantiate_bits(type)                                                          \
  instantiate_groups(type, 2) instantiate_groups(type, 3) instantiate_groups(type, 4) \
  instantiate_groups(type, 6) instantiate_groups(type, 8)
instantiate_bits(float)
instantiate_bits(half)
instantiate_bits(bfloat)
