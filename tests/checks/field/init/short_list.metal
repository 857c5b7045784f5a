// Source: written from memory of the class: a fixed list of candidates that is filled in part
// Only the candidates inside the image are stored, but all nine are sorted.
#include <metal_stdlib>
using namespace metal;

//! [kernel.edge_median]
//! threads = [8, 8]
//! threadgroup = [8, 8]
//! arguments.image = { shape = [8, 8], dtype = "uint8", fill = "iota" }
//! arguments.out = { shape = [8, 8], dtype = "uint8", fill = "zeros" }
kernel void edge_median(device const uchar* image, device uchar* out,
                        uint2 p [[thread_position_in_grid]]) {
    uchar v[9];
    uint n = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            int2 q = int2(p) + int2(dx, dy);
            if (all(q >= 0) && all(q < 8)) v[n++] = image[q.y * 8 + q.x];
        }
    }
#ifdef FIXED
    const uint last = n;
#else
    const uint last = 9;
#endif
    for (uint a = 0; a + 1 < last; ++a) {
        for (uint b = a + 1; b < last; ++b) {
            if (v[b] < v[a]) {  // BUG uninitialised-read
                uchar swap = v[a];
                v[a] = v[b];
                v[b] = swap;
            }
        }
    }
    out[p.y * 8 + p.x] = v[last / 2];  // MAYBE uninitialised-read
}
