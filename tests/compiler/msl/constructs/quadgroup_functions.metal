#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float x = f[i];
  f[0] = quad_sum(x) + quad_product(x) + quad_min(x) + quad_max(x) + quad_broadcast(x, 3) +
         quad_broadcast_first(x) + quad_shuffle(x, 1) + quad_shuffle_up(x, 1) +
         quad_shuffle_down(x, 1) + quad_shuffle_xor(x, 1) + quad_shuffle_rotate_up(x, 1) +
         quad_shuffle_rotate_down(x, 1) + quad_prefix_inclusive_sum(x) +
         quad_prefix_exclusive_sum(x) + quad_prefix_inclusive_product(x) +
         quad_prefix_exclusive_product(x) + quad_shuffle_and_fill_up(x, 0.0f, 1) +
         quad_shuffle_and_fill_down(x, 0.0f, 1);
  u[0] = quad_and(u[i]) + quad_or(u[i]) + quad_xor(u[i]) + quad_all(x > 0) + quad_any(x > 0) +
         quad_is_first() + uint((quad_vote::vote_t)quad_ballot(x > 0)) +
         (uint)(quad_vote::vote_t)quad_active_threads_mask();
}
