#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float x = f[i];
  f[0] = simd_sum(x) + simd_product(x) + simd_min(x) + simd_max(x) + simd_broadcast(x, 3) +
         simd_broadcast_first(x) + simd_shuffle(x, 1) + simd_shuffle_up(x, 1) +
         simd_shuffle_down(x, 1) + simd_shuffle_xor(x, 1) + simd_shuffle_rotate_up(x, 1) +
         simd_shuffle_rotate_down(x, 1) + simd_prefix_inclusive_sum(x) +
         simd_prefix_exclusive_sum(x) + simd_prefix_inclusive_product(x) +
         simd_prefix_exclusive_product(x) + simd_shuffle_and_fill_up(x, 0.0f, 1) +
         simd_shuffle_and_fill_down(x, 0.0f, 1) + simd_shuffle_and_fill_up(x, 0.0f, 1, 16);
  u[0] = simd_and(u[i]) + simd_or(u[i]) + simd_xor(u[i]) + simd_all(x > 0) + simd_any(x > 0) +
         simd_is_first() + uint((simd_vote::vote_t)simd_ballot(x > 0)) +
         (uint)(ulong)simd_active_threads_mask();
  f[1] = simd_sum(float4(x)).x + simd_sum(h[i]) + simd_max(n[i]) + simd_shuffle(half4(x), 1).y;
  bool b = simd_ballot(true).all();
  n[0] = b;
  f[2] = simd_sum(short(1)) + simd_broadcast(uchar(1), 0);
}
