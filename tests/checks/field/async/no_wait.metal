// Source: https://github.com/dougallj/applegpu/issues/28
// A tile is used without waiting for the copy that brings it.
//! [kernel.no_wait]
//! threads = 32
//! threadgroup = 32
//! arguments.x = { shape = 32, fill = "random" }
//! arguments.y = { shape = 32, fill = "zeros" }
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_1d(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait_events(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

kernel void no_wait(device const float* x, device float* y,
                    uint t [[thread_index_in_threadgroup]]) {
    threadgroup float tile[32];
    thread _simdgroup_event_t* event = copy_1d(4, 4, tile, x, 32);  // WITH
#ifdef FIXED
    wait_events(1, &event);
#endif
    y[t] = tile[31 - t];  // BUG copy-not-waited
#ifndef FIXED
    wait_events(1, &event);
#endif
}
