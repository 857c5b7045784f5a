// Source: https://github.com/Pushkinist/rMLX/issues/438
// The safe loader compares the row with the tile's width, which is never reached.
#include <metal_stdlib>
using namespace metal;

//! [kernel.tile_dims]
//! threadgroups = 2
//! threadgroup = 64
//! arguments.w = { shape = [20, 32], fill = "random" }
//! arguments.y = { shape = 20, fill = "zeros" }
//! arguments.outs = 20
template <short ROWS, short COLUMNS>
struct Loader {
    device const float* source;
    threadgroup float* tile;
    short row, column;

    void load_safe(short2 dims) {
#ifdef FIXED
        const bool inside = row < dims.y;
#else
        const bool inside = row < dims.x;
#endif
        for (short c = 0; c < 8; ++c) {
            float v = 0;
            if (inside) v = source[row * COLUMNS + column + c];  // BUG out-of-bounds-read
            tile[row * COLUMNS + column + c] = v;
        }
    }
};

kernel void tile_dims(device const float* w, device float* y, constant int& outs,
                      uint group [[threadgroup_position_in_grid]],
                      ushort t [[thread_index_in_threadgroup]]) {
    threadgroup float tile[16 * 32];
    const short rows = min(16, outs - int(group) * 16);
    Loader<16, 32> loader = {w + group * 16 * 32, tile, short(t / 4), short(t % 4 * 8)};
    loader.load_safe(short2(32, rows));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (short(t) < rows) {
        float sum = 0;
        for (short k = 0; k < 32; ++k) sum += tile[t * 32 + k];
        y[group * 16 + t] = sum;
    }
}
