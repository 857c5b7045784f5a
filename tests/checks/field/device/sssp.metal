// Source: https://github.com/ORNL/HeCBench/issues/264
// Distances are compared by plain loads while others lower them.
#include <metal_stdlib>
using namespace metal;

//! [kernel.sssp]
//! threads = 96
//! threadgroup = 32
//! arguments.edges = { shape = 96, dtype = "uint32", fill = "iota" }
//! arguments.dist = { shape = 12, dtype = "int32", fill = 1000 }
kernel void sssp(device const uint* edges, device int* dist, uint e [[thread_position_in_grid]]) {
    const uint to = edges[e] % 12;
    const int by = int(edges[e] / 12) + 3;
#ifdef FIXED
    atomic_fetch_min_explicit((device atomic_int*)&dist[to], by, memory_order_relaxed);
#else
    if (by < dist[to]) {  // MAYBE race-read-write
        dist[to] = by;    // BUG race-read-write|race-write-write
    }
#endif
}
