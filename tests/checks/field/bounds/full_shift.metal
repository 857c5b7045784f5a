// Source: written from memory of the class: a mask of all 32 lanes by 1 << 32
// A shift by the width of its type has no result.
#include <metal_stdlib>
using namespace metal;

//! [kernel.full_shift]
//! threads = 32
//! threadgroup = 32
//! arguments.y = { shape = 32, dtype = "uint32", fill = "zeros" }
template <uint LANES> uint lane_mask() {
#ifdef FIXED
    return LANES == 32 ? ~0u : (1u << (LANES % 32)) - 1;
#else
    return (1u << LANES) - 1;  // BUG shift-count
#endif
}

kernel void full_shift(device uint* y, uint i [[thread_position_in_grid]]) {
    y[i] = lane_mask<32>() & (1u << i);
}
