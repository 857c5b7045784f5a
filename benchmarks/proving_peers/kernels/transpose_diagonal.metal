// A transposition whose threadgroups take their tiles along diagonals.
#include <metal_stdlib>
using namespace metal;

//! [kernel.transpose_diagonal]
//! threadgroup = [16, 16]
// assay: assume(grid.x == 1024 and grid.y == 1024 and side == 1024)
kernel void transpose_diagonal(device const float* in, device float* out, constant uint& side,
                               uint2 at [[thread_position_in_threadgroup]],
                               uint2 group [[threadgroup_position_in_grid]],
                               uint2 groups [[threadgroups_per_grid]]) {
    threadgroup float tile[16][17];
    uint across = (group.x + group.y) % groups.x, down = group.x;
    uint2 from = uint2(16 * across + at.x, 16 * down + at.y);
    tile[at.y][at.x] = in[from.y * side + from.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint2 to = uint2(16 * down + at.x, 16 * across + at.y);
    out[to.y * side + to.x] = tile[at.x][at.y];
}
