// Source: written from memory of the class: CSR matrix with as many row pointers as rows
// The end of the last row is one behind the pointers that were given.
#include <metal_stdlib>
using namespace metal;

//! [kernel.spmv]
//! threads = 8
//! threadgroup = 8
//! arguments.first = { shape = 8, dtype = "uint32", fill = "iota" }
//! arguments.value = { shape = 8, fill = "ones" }
//! arguments.y = { shape = 8, fill = "zeros" }
//! arguments.nonzeros = 8
kernel void spmv(device const uint* first, device const float* value, device float* y,
                 constant uint& nonzeros, uint row [[thread_position_in_grid]],
                 uint rows [[threads_per_grid]]) {
#ifdef FIXED
    const uint end = row + 1 < rows ? first[row + 1] : nonzeros;
#else
    const uint end = first[row + 1];  // BUG out-of-bounds-read
#endif
    float s = 0;
    for (uint k = first[row]; k < end; ++k) s += value[k];
    y[row] = s;
}
