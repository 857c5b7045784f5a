// Rows are convolved, each thread makes eight elements.
#include <metal_stdlib>
using namespace metal;

constant float weights[17] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1};

//! [kernel.convolve_rows]
//! threadgroup = [16, 4]
// assay: assume(width == 3072 and groups.x == 24 and groups.y == 192)
kernel void convolve_rows(device const float* in, device float* out, constant int& width,
                          uint2 at [[thread_position_in_threadgroup]],
                          uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float row[4][160];
    int first = (int(group.x) * 8 - 1) * 16 + int(at.x), y = int(group.y) * 4 + int(at.y);
    for (int i = 1; i < 9; ++i) row[at.y][at.x + i * 16] = in[y * width + first + i * 16];
    row[at.y][at.x] = first >= 0 ? in[y * width + first] : 0;
    row[at.y][at.x + 144] = width - first > 144 ? in[y * width + first + 144] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 1; i < 9; ++i) {
        float sum = 0;
        for (int j = -8; j <= 8; ++j) sum += weights[8 - j] * row[at.y][int(at.x) + i * 16 + j];
        out[y * width + first + i * 16] = sum;
    }
}
