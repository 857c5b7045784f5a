// Source: written from memory of the class: block indices in 16 bits
// Rows are counted in ushort, and there are more than 65535 of them.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.short_rows]
//! threads = 4
//! threadgroup = 4
//! arguments.x = { shape = 80000, dtype = "uint8", fill = "ones" }
//! arguments.y = { shape = 4, dtype = "uint8", fill = "zeros" }
//! arguments.block = 20000
#ifdef FIXED
typedef uint Row;
#else
typedef ushort Row;
#endif
kernel void short_rows(device const uchar* x, device uchar* y, constant uint& block,
                       uint i [[thread_position_in_grid]]) {
    const Row row = Row(i * block + 6000);  // BUG index-overflow
    y[i] = x[row];
}
