// Source: written from memory of the class: local radix sort, scatter in place
// Keys move to their new places in the array that other simdgroups still read them from.
#include <metal_stdlib>
using namespace metal;

//! [kernel.radix_scatter]
//! threads = 64
//! threadgroup = 64
//! arguments.keys = { shape = 64, dtype = "uint32", fill = "iota" }
ushort split_place(bool one, ushort t, threadgroup ushort* zeros, ushort sg, ushort lane) {
    ushort before = simd_prefix_exclusive_sum(ushort(!one));
    if (lane == 31) zeros[sg] = before + ushort(!one);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    ushort rank = before + (sg == 1 ? zeros[0] : 0);
    return one ? zeros[0] + zeros[1] + t - rank : rank;
}

kernel void radix_scatter(device uint* keys, ushort t [[thread_position_in_threadgroup]],
                          ushort sg [[simdgroup_index_in_threadgroup]],
                          ushort lane [[thread_index_in_simdgroup]]) {
    threadgroup uint s[64];
    threadgroup ushort zeros[2];
    s[t] = (keys[t] * 37) & 63;
    for (ushort bit = 0; bit < 6; ++bit) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        ushort to = split_place((s[t] >> bit) & 1, t, zeros, sg, lane);
        uint key = s[t];  // WITH
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        s[to] = key;  // BUG race-read-write
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    keys[t] = s[t];  // MAYBE uninitialised-read
}
