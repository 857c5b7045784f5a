// Source: https://github.com/trymirai/uzu/issues/523
// Offsets of experts are scanned for as many experts as there are threads, not as there are.
#include <metal_stdlib>
using namespace metal;

//! [kernel.expert_offsets]
//! threads = 32
//! threadgroup = 32
//! arguments.counts = { shape = 40, dtype = "uint32", fill = "ones" }
//! arguments.offsets = { shape = 41, dtype = "uint32", fill = "zeros" }
//! arguments.experts = 40
kernel void expert_offsets(device const uint* counts, device uint* offsets,
                           constant uint& experts, uint t [[thread_index_in_threadgroup]],
                           uint n [[threads_per_threadgroup]]) {
    threadgroup uint scratch[64];
#ifdef FIXED
    for (uint e = t; e < experts; e += n) scratch[e] = counts[e];
#else
    if (t < experts) scratch[t] = counts[t];
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t != 0) return;
    uint sum = 0;
    for (uint e = 0; e < experts; ++e) {
        offsets[e] = sum;  // BUG uninitialised-read
        sum += scratch[e];
    }
    offsets[experts] = sum;  // MAYBE uninitialised-read
}
