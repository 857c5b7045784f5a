// Each thread counts in bytes of its own, at places that depend on data.
#include <metal_stdlib>
using namespace metal;

//! [kernel.histogram_of_bytes]
//! threadgroup = 64
kernel void histogram_of_bytes(device const uint* data, device uint* parts, constant uint& count,
                               uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                               uint groups [[threadgroups_per_grid]]) {
    threadgroup uchar bins[64 * 64];
    for (uint i = 0; i < 64; ++i) bins[64 * i + t] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint place = (t & ~63u) | ((t & 15u) << 2) | ((t & 48u) >> 4);
    for (uint at = group * 64 + t; at < count; at += groups * 64) {
        uint word = data[at];
        bins[place + ((word >> 2) & 63u) * 64] += 1;
        bins[place + ((word >> 10) & 63u) * 64] += 1;
        bins[place + ((word >> 18) & 63u) * 64] += 1;
        bins[place + ((word >> 26) & 63u) * 64] += 1;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint sum = 0;
    for (uint i = 0; i < 64; ++i) sum += bins[t * 64 + ((i + t) & 63u)];
    parts[group * 64 + t] = sum;
}
