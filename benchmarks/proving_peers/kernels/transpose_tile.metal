// A transposition through a padded tile.
#include <metal_stdlib>
using namespace metal;

//! [kernel.transpose_tile]
//! threadgroup = [16, 16]
kernel void transpose_tile(device const float* in, device float* out, constant uint& width,
                           constant uint& height, uint2 at [[thread_position_in_threadgroup]],
                           uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float tile[16][17];
    uint2 from = 16 * group + at;
    if (from.x < width && from.y < height) tile[at.y][at.x] = in[from.y * width + from.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint2 to = 16 * group.yx + at;
    if (to.x < height && to.y < width) out[to.y * height + to.x] = tile[at.x][at.y];
}
