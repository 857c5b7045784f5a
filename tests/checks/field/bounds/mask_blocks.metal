// Source: https://github.com/ggml-org/llama.cpp/pull/29220
// The pre-pass over blocks of eight rows of the mask reads all eight of the last one.
#include <metal_stdlib>
using namespace metal;

//! [kernel.mask_blocks]
//! threadgroups = [2, 2, 1]
//! threadgroup = 32
//! arguments.mask = { shape = [12, 64], dtype = "float16", fill = "zeros" }
//! arguments.kind = { shape = 4, dtype = "uint8", fill = "ones" }
//! arguments.rows = 12
kernel void mask_blocks(device const half* mask, device uchar* kind, constant int& rows,
                        uint2 block [[threadgroup_position_in_grid]],
                        ushort lane [[thread_index_in_simdgroup]]) {
    device const half* at = mask + block.y * 8 * 64 + block.x * 32 + lane;
    half low = MAXHALF, high = -MAXHALF;
    for (int r = 0; r < 8; ++r) {
#ifdef FIXED
        if (int(block.y) * 8 + r >= rows) break;
#endif
        const half v = at[r * 64];  // BUG out-of-bounds-read
        low = min(low, v);
        high = max(high, v);
    }
    low = simd_min(low);
    high = simd_max(high);
    if (lane == 0) kind[block.y * 2 + block.x] = high <= -MAXHALF / 2 ? 0 : low == 0 ? 2 : 1;
}
