#include <metal_stdlib>
using namespace metal;

kernel void k(device float* f [[buffer(0)]], device int* n [[buffer(1)]],
              device uint* u [[buffer(2)]], device half* h [[buffer(3)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  device atomic_uint* a = (device atomic_uint*)u;
  device atomic_int* b = (device atomic_int*)n;
  u[9] = atomic_fetch_add_explicit(a, 1u, memory_order_relaxed) +
         atomic_load_explicit(a, memory_order_relaxed) +
         atomic_exchange_explicit(a, 3u, memory_order_relaxed);
  atomic_store_explicit(b, 2, memory_order_relaxed);
  atomic_fetch_or_explicit(a, 3, memory_order_relaxed);
  atomic_fetch_min_explicit(b, -1, memory_order_relaxed);
  uint e = 1;
  while (!atomic_compare_exchange_weak_explicit(a, &e, e + 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
  atomic_fetch_xor_explicit(&a[2], 1, memory_order_relaxed);
  atomic_fetch_and_explicit(a + 1, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(a, 1, memory_order_relaxed);
  atomic_fetch_max_explicit(a, 7u, memory_order_relaxed);
}
