// Source: written from memory of the class: a top-k list whose indices have no first value
// Values begin at minus infinity; of the indices only those that were inserted are set.
#include <metal_stdlib>
using namespace metal;

//! [kernel.local_best]
//! threads = 4
//! threadgroup = 4
//! arguments.x = { shape = [4, 2], fill = "random" }
//! arguments.at = { shape = [4, 4], dtype = "uint32", fill = "zeros" }
//! arguments.n = 2
kernel void local_best(device const float* x, device uint* at, constant int& n,
                       uint i [[thread_position_in_grid]]) {
    float best[4];
    uint from[4];
    for (int k = 0; k < 4; ++k) {
        best[k] = -INFINITY;
#ifdef FIXED
        from[k] = ~0u;
#endif
    }
    for (int j = 0; j < n; ++j) {
        const float v = x[i * n + j];
        int place = 3;
        while (place > 0 && best[place - 1] < v) {
            best[place] = best[place - 1];
            from[place] = from[place - 1];
            --place;
        }
        best[place] = v;
        from[place] = j;
    }
    for (int k = 0; k < 4; ++k) at[i * 4 + k] = from[k];  // BUG uninitialised-read
}
