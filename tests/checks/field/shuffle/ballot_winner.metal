// Source: https://github.com/NVIDIA/cccl/pull/6429
// The winner is elected among all lanes, and asked among those that are in the branch.
#include <metal_stdlib>
using namespace metal;

//! [kernel.ballot_winner]
//! threads = 32
//! threadgroup = 32
//! arguments.key = { shape = 32, dtype = "uint32", fill = "iota" }
//! arguments.y = { shape = 32, dtype = "uint32", fill = "zeros" }
kernel void ballot_winner(device const uint* key, device uint* y,
                          ushort lane [[thread_index_in_simdgroup]]) {
    const uint k = key[lane] * 7 % 32;
    const uint least = simd_min(k);
    const ushort winner = ctz(uint(ulong(simd_ballot(k == least))));
#ifdef FIXED
    const uint from = simd_shuffle(k + lane, winner);
    y[lane] = k > 3 ? from : 0;
#else
    if (k > 3) {
        y[lane] = simd_shuffle(k + lane, winner);  // BUG inactive-lane-read
    }
#endif
}
