// Source: https://github.com/kokkos/kokkos/issues/1958
// Lane 0 has left the loop, and the others take the next item from it.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gone_leader]
//! threads = 32
//! threadgroup = 32
//! arguments.items = { shape = 32, dtype = "uint32", fill = "iota" }
//! arguments.y = { shape = 32, dtype = "uint32", fill = "zeros" }
kernel void gone_leader(device const uint* items, device uint* y,
                        uint lane [[thread_index_in_simdgroup]]) {
    uint sum = 0;
#ifdef FIXED
    for (uint k = 0; k < 31; ++k) {
        uint item = simd_broadcast(items[lane] + k, 0);
        if (k < lane) sum += item;
    }
#else
    for (uint k = 0; k < lane; ++k) {
        uint item = simd_broadcast(items[lane] + k, 0);  // BUG inactive-lane-read
        sum += item;
    }
#endif
    y[lane] = sum;
}
