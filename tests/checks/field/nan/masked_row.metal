// Source: https://github.com/tracel-ai/burn/pull/4697
// A row whose every position is masked: its maximum is -inf, and -inf - -inf is NaN.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.masked_row]
//! threadgroups = 2
//! threadgroup = 32
//! arguments.score = { shape = [2, 32], fill = "ones" }
//! arguments.keep = { shape = 2, dtype = "int32", fill = [20, 0] }
//! arguments.p = { shape = [2, 32], fill = "zeros" }
kernel void masked_row(device const float* score, constant int* keep, device float* p,
                       uint row [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    const float s = int(lane) < keep[row] ? score[row * 32 + lane] : -INFINITY;
    float m = simd_max(s);
#ifdef FIXED
    m = m == -INFINITY ? 0 : m;
#endif
    const float e = exp(s - m);  // BUG nan-born
    const float total = simd_sum(e);
#ifdef FIXED
    p[row * 32 + lane] = total > 0 ? e / total : 0;
#else
    p[row * 32 + lane] = e / total;
#endif
}
