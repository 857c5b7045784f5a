#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic<float>* a [[buffer(0)]], device atomic<ulong>* b [[buffer(1)]],
              volatile device atomic<int>* c, device atomic<bool>* d,
              threadgroup atomic_uint* t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup atomic_int s[4];
  threadgroup atomic<float> fl;
  atomic_fetch_add_explicit(a, 1.0f, memory_order_relaxed);
  atomic_max_explicit(b, 5ul, memory_order_relaxed);
  atomic_min_explicit(b, 5ul, memory_order_relaxed);
  atomic_fetch_add_explicit(c, 1, memory_order_relaxed);
  atomic_store_explicit(d, true, memory_order_relaxed);
  atomic_fetch_add_explicit(&s[i % 4], 1, memory_order_relaxed);
  atomic_fetch_add_explicit(t, 1u, memory_order_relaxed);
  atomic_store_explicit(&fl, 0.0f, memory_order_relaxed);
  atomic_fetch_add_explicit(&fl, 0.5f, memory_order_relaxed);
  atomic_fetch_sub_explicit(a, 1.0f, memory_order_relaxed);
  atomic_exchange_explicit(a, 2.0f, memory_order_relaxed);
}
