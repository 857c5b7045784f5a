// Source: https://github.com/ORNL/HeCBench/issues/263
// The last steps of a reduction trust that a simdgroup runs in lock step; `volatile` promises nothing.
// checks: lanes
#include <metal_stdlib>
using namespace metal;

//! [kernel.row_minima]
//! threads = 128
//! threadgroup = 128
//! arguments.cost = { shape = 128, dtype = "int32", fill = "iota" }
//! arguments.least = { shape = 1, dtype = "int32", fill = "zeros" }
kernel void row_minima(device const int* cost, device int* least,
                       uint t [[thread_position_in_threadgroup]]) {
    threadgroup int low[128];
    low[t] = cost[t] ^ 21;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 64) low[t] = min(low[t], low[t + 64]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 32) {
#ifdef FIXED
        int m = simd_min(min(low[t], low[t + 32]));
        if (t == 0) *least = m;
#else
        threadgroup volatile int* v = low;
        v[t] = min(v[t], v[t + 32]);  // MAYBE lane-race
        v[t] = min(v[t], v[t + 16]);  // MAYBE lane-race
        v[t] = min(v[t], v[t + 8]);   // BUG lane-race
        v[t] = min(v[t], v[t + 4]);   // MAYBE lane-race
        v[t] = min(v[t], v[t + 2]);   // MAYBE lane-race
        v[t] = min(v[t], v[t + 1]);   // MAYBE lane-race
        if (t == 0) *least = v[0];    // MAYBE lane-race
#endif
    }
}
