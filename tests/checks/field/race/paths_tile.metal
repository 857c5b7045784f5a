// Source: https://github.com/ORNL/HeCBench/issues/261
// All-pairs shortest paths inside a tile: rows are relaxed while others read the pivot row.
#include <metal_stdlib>
using namespace metal;

//! [kernel.paths_tile]
//! threads = [16, 16]
//! threadgroup = [16, 16]
//! arguments.cost = { shape = 256, dtype = "int32", fill = 7 }
kernel void paths_tile(device int* cost, uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup int d[16][17];
    d[t.y][t.x] = cost[t.y * 16 + t.x] + int(t.x ^ t.y);
    for (uint k = 0; k < 16; ++k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const int by = d[t.y][k] + d[k][t.x];  // WITH
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        d[t.y][t.x] = min(d[t.y][t.x], by);  // BUG race-read-write
    }
    cost[t.y * 16 + t.x] = d[t.y][t.x];
}
