// Source: written from memory of the class: the last threadgroup adds up (threadFenceReduction)
// Partial sums are plain stores; a relaxed ticket orders nothing but itself.
#include <metal_stdlib>
using namespace metal;

//! [kernel.last_block]
//! threadgroups = 4
//! threadgroup = 64
//! arguments.x = { shape = 256, dtype = "uint32", fill = "iota" }
//! arguments.partial = { shape = 4, dtype = "uint32", fill = "zeros" }
//! arguments.ticket = { shape = 1, dtype = "uint32", fill = "zeros" }
//! arguments.total = { shape = 1, dtype = "uint32", fill = "zeros" }
kernel void last_block(device const uint* x, device uint* partial, device atomic_uint* ticket,
                       device uint* total, uint i [[thread_position_in_grid]],
                       uint g [[threadgroup_position_in_grid]],
                       uint groups [[threadgroups_per_grid]],
                       uint t [[thread_index_in_threadgroup]]) {
    threadgroup uint two[2];
    uint s = simd_sum(x[i]);
    if (simd_is_first()) two[t / 32] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t != 0) return;
#ifdef FIXED
    atomic_fetch_add_explicit((device atomic_uint*)total, two[0] + two[1], memory_order_relaxed);
#else
    partial[g] = two[0] + two[1];  // WITH
    if (atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed) == groups - 1) {
        uint sum = 0;
        for (uint k = 0; k < groups; ++k) {
            sum += partial[k];  // BUG race-read-write
        }
        *total = sum;
    }
#endif
}
