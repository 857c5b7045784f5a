// Source: https://github.com/ORNL/HeCBench/issues/255
// A running maximum in place: neighbours are read and replaced between the same two barriers.
#include <metal_stdlib>
using namespace metal;

//! [kernel.two_way_scan]
//! threads = 96
//! threadgroup = 96
//! arguments.line = { shape = 96, dtype = "uint8", fill = "iota" }
//! arguments.most = { shape = 96, dtype = "uint8", fill = "zeros" }
template <typename T> T later(T a, T b) { return max(a, b); }

kernel void two_way_scan(device const uchar* line, device uchar* most,
                         ushort t [[thread_position_in_threadgroup]],
                         ushort n [[threads_per_threadgroup]]) {
    threadgroup uchar op[128];
    op[t] = line[t];
    for (ushort step = 1; step < n; step *= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uchar v = op[t];
        if (t >= step) {
            v = later(v, op[t - step]);  // WITH
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        op[t] = v;  // BUG race-read-write
    }
    most[t] = op[t];
}
