// Source: https://github.com/ORNL/HeCBench/issues/126
// The window of a median filter is filled by all threads and used before all have filled it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.median_window]
//! threads = [16, 8]
//! threadgroup = [16, 8]
//! arguments.image = { shape = [10, 18], dtype = "uint8", fill = "iota" }
//! arguments.out = { shape = [8, 16], dtype = "uint8", fill = "zeros" }
constant constexpr uint W = 18;

kernel void median_window(device const uchar* image, device uchar* out,
                          ushort2 t [[thread_position_in_threadgroup]],
                          ushort i [[thread_index_in_threadgroup]]) {
    threadgroup uchar win[10 * W];
    for (ushort k = i; k < 10 * W; k += 128) {
        win[k] = image[k];  // BUG race-read-write
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    uchar v[9];
    for (ushort k = 0; k < 9; ++k) {
        v[k] = win[(t.y + k / 3) * W + t.x + k % 3];  // WITH
    }
    for (ushort a = 0; a < 5; ++a) {
        for (ushort b = a + 1; b < 9; ++b) {
            uchar low = min(v[a], v[b]);  // MAYBE uninitialised-read
            v[b] = max(v[a], v[b]);
            v[a] = low;
        }
    }
    out[t.y * 16 + t.x] = v[4];  // MAYBE uninitialised-read
}
