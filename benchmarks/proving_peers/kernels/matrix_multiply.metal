// Tiles of both factors in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

//! [kernel.matrix_multiply]
//! threadgroup = [32, 32]
// assay: assume(grid.x <= width)
kernel void matrix_multiply(device const float* left, device const float* right,
                            device float* product, constant uint& depth, constant uint& width,
                            uint2 at [[thread_position_in_threadgroup]],
                            uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float rows[32][32];
    threadgroup float columns[32][32];
    uint row = 32 * group.y + at.y, column = 32 * group.x + at.x;
    float sum = 0;
    for (uint step = 0; step < depth; step += 32) {
        rows[at.y][at.x] = left[row * depth + step + at.x];
        columns[at.y][at.x] = right[(step + at.y) * width + column];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 32; ++k) sum += rows[at.y][k] * columns[k][at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    product[row * width + column] = sum;
}
