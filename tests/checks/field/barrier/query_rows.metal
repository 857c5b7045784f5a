// Source: https://github.com/Luce-Org/lucebox/pull/225
// Query rows behind the sequence's end return; keys are loaded by everybody who is left.
#include <metal_stdlib>
using namespace metal;

//! [kernel.query_rows]
//! threadgroups = 2
//! threadgroup = 32
//! arguments.q = { shape = [50, 4], fill = "random" }
//! arguments.k = { shape = [32, 4], fill = "random" }
//! arguments.score = { shape = 50, fill = "zeros" }
//! arguments.seq_len = 50
kernel void query_rows(device const packed_float4* q, device const packed_float4* k,
                       device float* score, constant uint& seq_len,
                       uint row [[thread_position_in_grid]],
                       uint t [[thread_position_in_threadgroup]]) {
    threadgroup float4 keys[32];
#ifdef FIXED
    const bool live = row < seq_len;
    keys[t] = k[t];
#else
    if (row >= seq_len) return;  // MAYBE barrier-divergence
    const bool live = true;
    keys[t] = k[t];
    keys[31 - t] = k[31 - t];
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);  // BUG barrier-divergence
    if (!live) return;
    float best = -1e9f;
    for (uint j = 0; j < 32; ++j) best = max(best, dot(float4(q[row]), keys[j]));
    score[row] = best;
}
