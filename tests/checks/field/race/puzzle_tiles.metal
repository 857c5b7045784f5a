// Source: https://github.com/srush/GPU-Puzzles/issues/14
// The next tiles are loaded while slower threads still multiply the present ones.
#include <metal_stdlib>
using namespace metal;

//! [kernel.puzzle_tiles]
//! threadgroups = 1
//! threadgroup = [8, 8, 1]
//! arguments.a = { shape = [8, 20], fill = "random" }
//! arguments.b = { shape = [20, 8], fill = "random" }
//! arguments.c = { shape = [8, 8], fill = "zeros" }
//! arguments.size = 20
kernel void puzzle_tiles(device const float* a, device const float* b, device float* c,
                         constant int& size, uint2 p [[thread_position_in_threadgroup]]) {
    threadgroup float ta[8][8], tb[8][8];
    const int x = p.x, y = p.y;
    float sum = 0;
    for (int k0 = 0; k0 < size; k0 += 8) {
        if (k0 + x < size) ta[y][x] = a[y * size + k0 + x];
        if (k0 + y < size) tb[y][x] = b[(k0 + y) * 8 + x];  // BUG race-read-write
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int k = 0; k < min(8, size - k0); ++k) {
            sum += ta[y][k] * tb[k][x];  // WITH
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    c[y * 8 + x] = sum;
}
