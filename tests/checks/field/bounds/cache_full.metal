// Source: written from memory of the class: a key cache that is full
// The position is compared with the capacity only after the store.
#include <metal_stdlib>
using namespace metal;

//! [kernel.cache_full]
//! threads = 8
//! threadgroup = 8
//! arguments.k = { shape = 8, dtype = "float16", fill = "ones" }
//! arguments.cache = { shape = [4, 8], dtype = "float16", fill = "zeros" }
//! arguments.state = { fields = [["uint32", 4], ["uint32", 4]] }
struct State {
    uint position, capacity;
};

kernel void cache_full(device const half* k, device half* cache, constant State& state,
                       uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint row = state.position % state.capacity;
#else
    const uint row = state.position;
#endif
    cache[row * 8 + i] = k[i];  // BUG out-of-bounds-write
}
