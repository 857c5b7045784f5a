// Source: written from memory of the class: a matrix store with a pitch by lane
// The row pitch is chosen by half of the simdgroup.
#include <metal_stdlib>
using namespace metal;

//! [kernel.store_pitch]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = 64, dtype = "float16", fill = "random" }
//! arguments.c = { shape = 256, dtype = "float16", fill = "zeros" }
kernel void store_pitch(device const half* a, device half* c,
                        ushort lane [[thread_index_in_simdgroup]]) {
    simdgroup_half8x8 m;
    simdgroup_load(m, a, 8);
#ifdef FIXED
    const ulong pitch = 16;
#else
    const ulong pitch = lane < 16 ? 8 : 16;
#endif
    simdgroup_store(m, c, pitch);  // BUG non-uniform-argument
}
