// Source: written from memory of the class: top-k lists merged by halves
// Every simdgroup merges into its own list what a neighbour may be overwriting.
#include <metal_stdlib>
using namespace metal;

//! [kernel.heap_merge]
//! threads = 128
//! threadgroup = 128
//! arguments.scores = { shape = 128, fill = "random" }
//! arguments.best = { shape = 4, fill = "zeros" }
kernel void heap_merge(device const float* scores, device float* best,
                       uint t [[thread_position_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float list[4][4];
    float v = scores[t];
    for (uint k = 0; k < 4; ++k) {
        float top = simd_max(v);
        if (lane == 0) list[sg][k] = top;
        if (v == top) v = -1e9f;
    }
    for (uint half_ = 2; half_ > 0; half_ /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
        const bool merging = sg < half_;
#else
        const bool merging = sg < 3;
#endif
        if (merging && lane == 0) {
            float a[4], b[4];
            for (uint k = 0; k < 4; ++k) {
                a[k] = list[sg][k];
                b[k] = list[sg + half_ < 4 ? sg + half_ : 3][k];  // WITH
            }
            for (uint k = 0, i = 0, j = 0; k < 4; ++k) {
                list[sg][k] = a[i] >= b[j] ? a[i++] : b[j++];  // BUG race-read-write
            }
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 4) best[t] = list[0][t];
}
