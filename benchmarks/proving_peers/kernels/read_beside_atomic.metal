// A counter is read plainly while others add to it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.read_beside_atomic]
//! threadgroup = 256
// assay: assume(groups.x == 1)
kernel void read_beside_atomic(device int* out, uint t [[thread_index_in_threadgroup]]) {
    threadgroup atomic_int counts[256];
    atomic_store_explicit(counts + t, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup int* plain = reinterpret_cast<threadgroup int*>(counts);
    int seen = plain[t];
    atomic_fetch_add_explicit(counts, 1, memory_order_relaxed);
    out[t] = seen;
}
