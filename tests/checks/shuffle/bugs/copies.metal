// Asynchronous copies that only some lanes begin.
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_in(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

//! [kernel.begun_by_half]
//! threads = [32]
//! threadgroup = [32]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void begun_by_half(device const float* x, device float* y,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup float s[64];
  thread _simdgroup_event_t* e;
  if (t < 16) { // MAYBE partial-simdgroup
    e = copy_in(4, 4, s, x, 64); // BUG partial-simdgroup
  }
  wait(1, &e);
  y[t] = t < 16 ? s[t] : 0;
}

//! [kernel.half_of_a_simdgroup]
//! threads = [16]
//! threadgroup = [16]
//! arguments.x = { dtype = "float32", shape = [64], fill = "iota" }
//! arguments.y = { dtype = "float32", shape = [64], fill = "uninitialised" }
kernel void half_of_a_simdgroup(device const float* x, device float* y,
                                uint t [[thread_position_in_threadgroup]]) {
  threadgroup float s[64];
  thread _simdgroup_event_t* e = copy_in(4, 4, s, x, 16); // BUG partial-simdgroup
  wait(1, &e);
  y[t] = s[t];
}
