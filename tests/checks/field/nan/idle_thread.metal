// Source: https://github.com/gabrieldemarmiesse/torch-mojo-backend/pull/319
// Threads without an element combine a maximum of -inf with one of -inf.
// checks: nan
#include <metal_stdlib>
using namespace metal;

//! [kernel.idle_thread]
//! threads = 64
//! threadgroup = 64
//! arguments.x = { shape = 20, fill = "random" }
//! arguments.y = { shape = 20, fill = "zeros" }
//! arguments.n = 20
kernel void idle_thread(device const float* x, device float* y, constant uint& n,
                        uint t [[thread_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float2 parts[2];
    const float v = t < n ? x[t] : -INFINITY;
    const float high = simd_max(v);
#ifdef FIXED
    const float mine = v == high ? 1 : exp(v - high);
#else
    const float mine = exp(v - high);  // BUG nan-born
#endif
    const float sum = simd_sum(t < n ? mine : 0);
    if (lane == 0) parts[sg] = float2(high, sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float all = max(parts[0].x, parts[1].x);
    const float total = parts[0].y * exp(parts[0].x - all) + parts[1].y * exp(parts[1].x - all);
    if (t < n) y[t] = v - all - log(total);
}
