// Running sums, of two rows by turns.
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan_two_rows]
//! threadgroup = 256
// assay: assume(groups.x == 1)
kernel void scan_two_rows(device const float* in, device float* out, uint t [[thread_index_in_threadgroup]]) {
    threadgroup float rows[2 * 256];
    uint now = 0, next = 1;
    rows[t] = t > 0 ? in[t - 1] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < 256; step *= 2) {
        now = 1 - now;
        next = 1 - now;
        if (t >= step) rows[now * 256 + t] = rows[next * 256 + t] + rows[next * 256 + t - step];
        else rows[now * 256 + t] = rows[next * 256 + t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[t] = rows[now * 256 + t];
}
