// Source: https://github.com/pytorch/pytorch/pull/178123
// Moments of the simdgroups are combined by the last one before the others have stored theirs.
#include <metal_stdlib>
using namespace metal;

//! [kernel.welford]
//! threadgroups = 2
//! threadgroup = 256
//! arguments.x = { shape = 512, fill = "random" }
//! arguments.stat = { shape = 2, fill = "zeros" }
struct Moments {
    float mean, m2, n;
};

Moments join(Moments a, Moments b) {
    float n = a.n + b.n, d = b.mean - a.mean;
    return {a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n, n};
}

kernel void welford(device const float* x, device float2* stat,
                    uint i [[thread_position_in_grid]],
                    uint group [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup Moments parts[8];
    Moments mine = {x[i], 0, 1};
    for (ushort k = 1; k < 32; k *= 2) {
        Moments other = {simd_shuffle_xor(mine.mean, k), simd_shuffle_xor(mine.m2, k),
                         simd_shuffle_xor(mine.n, k)};
        mine = join(mine, other);
    }
    if (lane == 0) parts[sg] = mine;  // BUG race-read-write
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (sg == 7) {
        Moments all = parts[0];  // WITH
        for (uint k = 1; k < 8; ++k) {
            all = join(all, parts[k]);  // WITH
        }
        if (lane == 0) stat[group] = float2(all.mean, all.m2 / all.n);  // MAYBE uninitialised-read
    }
}
