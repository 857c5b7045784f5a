// Source: written from memory of the class: simdgroup_load with an address of each lane
// The pointer was advanced by the lane, as for an ordinary load.
#include <metal_stdlib>
using namespace metal;

//! [kernel.load_per_lane]
//! threads = 32
//! threadgroup = 32
//! arguments.a = { shape = 256, fill = "random" }
//! arguments.c = { shape = 64, fill = "zeros" }
kernel void load_per_lane(device const float* a, device float* c,
                          ushort lane [[thread_index_in_simdgroup]]) {
#ifndef FIXED
    a += lane;
#endif
    simdgroup_float8x8 m;
    simdgroup_load(m, a, 8);  // BUG non-uniform-argument
    simdgroup_store(m, c, 8);
}
