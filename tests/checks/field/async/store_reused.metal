// Source: https://github.com/philipturner/metal-flash-attention/pull/33
// The tile is filled anew while it may still be on its way to device memory.
//! [kernel.store_reused]
//! threads = 32
//! threadgroup = 32
//! arguments.y = { shape = 64, fill = "zeros" }
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* store_1d(ulong, ulong, device void*, const threadgroup void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
void wait_events(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

kernel void store_reused(device float* y, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float tile[32];
    thread _simdgroup_event_t* events[2];
    tile[t] = t;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    events[0] = store_1d(4, 4, y, tile, 32);  // WITH
#ifdef FIXED
    wait_events(1, events);
#endif
    tile[t] = t * 2;  // BUG copy-not-waited
    simdgroup_barrier(mem_flags::mem_threadgroup);
    events[1] = store_1d(4, 4, y + 32, tile, 32);
#ifdef FIXED
    wait_events(1, events + 1);
#else
    wait_events(2, events);
#endif
}
