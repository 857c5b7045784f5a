// Source: https://github.com/philipturner/metal-flash-attention/issues/29
// The last block of a copy is not cut to the rows that are left.
//! [kernel.past_end]
//! threads = 64
//! threadgroup = 32
//! arguments.x = { shape = 50, fill = "random" }
//! arguments.y = { shape = 64, fill = "zeros" }
//! arguments.n = 50
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_1d(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait_events(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");

kernel void past_end(device const float* x, device float* y, constant uint& n,
                     uint i [[thread_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]],
                     uint g [[threadgroup_position_in_grid]]) {
    threadgroup float tile[32];
#ifdef FIXED
    const ulong count = min(32u, n - g * 32);
#else
    const ulong count = 32;
#endif
    thread _simdgroup_event_t* event = copy_1d(4, 4, tile, x + g * 32, count);  // BUG out-of-bounds-read
    wait_events(1, &event);
    y[i] = i < n ? tile[t] : 0;
}
