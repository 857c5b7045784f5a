// Source: https://github.com/philipturner/metal-flash-attention/issues/29
// The first simdgroup waits for its copy, and the second one does not wait for the first.
//! [kernel.no_barrier]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 64, dtype = "float16", fill = "random" }
//! arguments.y = { shape = 64, dtype = "float16", fill = "zeros" }
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_1d(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait_events(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

kernel void no_barrier(device const half* x, device half* y,
                       uint t [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup half tile[64];
    if (sg == 0) {
        thread _simdgroup_event_t* event = copy_1d(2, 2, tile, x, 64);  // BUG race-read-write
        wait_events(1, &event);
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    y[t] = tile[63 - t];  // WITH
}
