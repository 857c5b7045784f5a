// Source: written from memory of the class: two copies, and a wait for the first of them
// wait_events is told that there is one event.
//! [kernel.second_event]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = 32, fill = "random" }
//! arguments.b = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_1d(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait_events(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

kernel void second_event(device const float* a, device const float* b, device float* y,
                         uint t [[thread_index_in_threadgroup]]) {
    threadgroup float ta[32], tb[32];
    thread _simdgroup_event_t* events[2];
    events[0] = copy_1d(4, 4, ta, a, 32);
    events[1] = copy_1d(4, 4, tb, b, 32);  // WITH
#ifdef FIXED
    wait_events(2, events);
#else
    wait_events(1, events);
#endif
    y[t] = ta[t] * tb[31 - t];  // BUG copy-not-waited
}
