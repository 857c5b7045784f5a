// Source: https://github.com/microsoft/DirectX-Graphics-Samples/issues/870
// Packed pairs are read and blurred floats are put into the same words at once.
#include <metal_stdlib>
using namespace metal;

//! [kernel.blur_reuse]
//! threadgroups = [2, 1, 1]
//! threadgroup = [8, 8, 1]
//! arguments.x = { shape = 256, fill = "random" }
//! arguments.y = { shape = 128, fill = "zeros" }
kernel void blur_reuse(device const float2* x, device float* y,
                       uint2 p [[thread_position_in_threadgroup]],
                       uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup uint cache[64];
    const uint at = p.y * 8 + p.x;
    cache[at] = as_type<uint>(half2(x[group.x * 64 + at]));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (int d = -2; d <= 2; ++d) {
        const uint row = uint(clamp(int(p.y) + d, 0, 7));
        const half2 pair = as_type<half2>(cache[row * 8 + p.x]);  // WITH
        sum += float(pair.x) + float(pair.y);
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    cache[at] = as_type<uint>(sum / 10);  // BUG race-read-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[group.x * 64 + at] = as_type<float>(cache[at ^ 1]);
}
