// A bitonic sort of as many numbers as there are threads.
#include <metal_stdlib>
using namespace metal;

//! [kernel.bitonic_sort]
//! threadgroup = 32
// assay: assume(groups.x == 1)
kernel void bitonic_sort(device int* values, uint t [[thread_index_in_threadgroup]]) {
    threadgroup int shared[32];
    shared[t] = values[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 2; k <= 32; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            uint other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if (up == (shared[t] > shared[other])) {
                    int kept = shared[t];
                    shared[t] = shared[other];
                    shared[other] = kept;
                }
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
    values[t] = shared[t];
}
