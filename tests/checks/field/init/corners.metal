// Source: written from memory of the class: a 2D halo without its corners
// Edges of the tile are loaded by edge threads, the four corners by nobody.
#include <metal_stdlib>
using namespace metal;

//! [kernel.box_blur]
//! threadgroups = [2, 2]
//! threadgroup = [8, 8]
//! arguments.in = { shape = [18, 18], fill = "random" }
//! arguments.out = { shape = [16, 16], fill = "zeros" }
kernel void box_blur(device const float* in, device float* out,
                     uint2 p [[thread_position_in_grid]],
                     uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float s[10][10];
    device const float* at = in + (p.y + 1) * 18 + p.x + 1;
    s[t.y + 1][t.x + 1] = at[0];
    if (t.x == 0) s[t.y + 1][0] = at[-1];
    if (t.x == 7) s[t.y + 1][9] = at[1];
    if (t.y == 0) s[0][t.x + 1] = at[-18];
    if (t.y == 7) s[9][t.x + 1] = at[18];
#ifdef FIXED
    if (t.x % 7 == 0 && t.y % 7 == 0) {
        const int dx = t.x == 0 ? -1 : 1, dy = t.y == 0 ? -1 : 1;
        s[t.y + 1 + dy][t.x + 1 + dx] = at[dy * 18 + dx];
    }
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float acc = 0;
    for (uint y = 0; y < 3; ++y) {
        for (uint x = 0; x < 3; ++x) acc += s[t.y + y][t.x + x];
    }
    out[p.y * 16 + p.x] = acc / 9;  // BUG uninitialised-read
}
