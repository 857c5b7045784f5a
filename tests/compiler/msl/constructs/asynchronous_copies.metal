#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* __metal_simdgroup_async_copy_1d(
    ulong, ulong, threadgroup void*, const device void*,
    ulong) __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void __metal_wait_simdgroup_events(int,
                                   thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");
kernel void k(device float* f, threadgroup float* t [[threadgroup(0)]]) {
  auto e = __metal_simdgroup_async_copy_1d(4, 4, (threadgroup void*)t, (const device void*)f, 8);
  __metal_wait_simdgroup_events(1, &e);
  f[9] = t[0];
}
