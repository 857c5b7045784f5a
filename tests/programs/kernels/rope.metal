// Rotary position embedding: pairs of neighbours, or of the two halves, turned by their angle.
#include <metal_math>
using namespace metal;

constant bool forward [[function_constant(1)]];
constant bool traditional [[function_constant(2)]];
constant bool hs_transpose [[function_constant(3)]];

template <typename T, typename IdxT, int N = 4>
[[kernel]] void rope(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                     constant const int* offset [[buffer(2)]],
                     constant const float& scale [[buffer(3)]],
                     constant const int64_t strides[3] [[buffer(4)]],
                     constant const int64_t out_strides[3] [[buffer(5)]],
                     constant const int& n_head [[buffer(6)]],
                     constant const float& base [[buffer(7)]],
                     uint3 pos [[thread_position_in_grid]],
                     uint3 grid [[threads_per_grid]]) {
  const float d = static_cast<float>(pos.x) / static_cast<float>(grid.x);
  const float inv_freq = metal::exp2(-d * base);
  const int batch = (N * pos.z) / n_head, first_head = (N * pos.z) % n_head;
  const float L = scale * static_cast<float>(pos.y + offset[batch]);
  const float theta = L * inv_freq;
  const float costheta = metal::fast::cos(theta), sintheta = metal::fast::sin(theta);
  const IdxT step = traditional ? IdxT(1) : IdxT(grid.x);
  for (int i = 0; i < N && first_head + i < n_head; ++i) {
    const IdxT head = IdxT(batch) * n_head + first_head + i;
    const IdxT column = traditional ? 2 * pos.x : pos.x;
    IdxT from = head * IdxT(strides[0]) + pos.y * IdxT(strides[1]) + column * IdxT(strides[2]);
    IdxT to = head * IdxT(out_strides[0]) + pos.y * IdxT(out_strides[1]) +
              column * IdxT(out_strides[2]);
    if (hs_transpose) {
      from = pos.y * IdxT(strides[0]) + head * IdxT(strides[1]) + column * IdxT(strides[2]);
    }
    const float x1 = static_cast<float>(in[from]);
    const float x2 = static_cast<float>(in[from + step * IdxT(strides[2])]);
    float rx1, rx2;
    if (forward) {
      rx1 = x1 * costheta - x2 * sintheta;
      rx2 = x1 * sintheta + x2 * costheta;
    } else {
      rx1 = x2 * sintheta + x1 * costheta;
      rx2 = x2 * costheta - x1 * sintheta;
    }
    out[to] = static_cast<T>(rx1);
    out[to + step * IdxT(out_strides[2])] = static_cast<T>(rx2);
  }
}

template [[host_name("rope_float32")]] [[kernel]] decltype(rope<float, int32_t>) rope<float, int32_t>;
template [[host_name("rope_large_float16")]] [[kernel]] decltype(rope<half, int64_t, 2>)
    rope<half, int64_t, 2>;
