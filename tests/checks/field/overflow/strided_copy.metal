// Source: https://github.com/ml-explore/mlx/issues/3836
// A few elements with a large stride between them: the count fits into an int, the offset does not.
// checks: overflow
#include <metal_stdlib>
using namespace metal;

//! [kernel.strided_copy]
//! threads = [2, 4, 1]
//! threadgroup = [2, 4, 1]
//! arguments.x = { shape = 4096, dtype = "uint8", fill = "ones" }
//! arguments.y = { shape = 8, dtype = "uint8", fill = "zeros" }
//! arguments.stride = 1073741824
//! arguments.limit = 4096
#ifdef FIXED
typedef long Offset;
#else
typedef int Offset;
#endif
kernel void strided_copy(device const uchar* x, device uchar* y, constant int& stride,
                         constant ulong& limit, uint2 p [[thread_position_in_grid]]) {
    const Offset at = Offset(p.y) * stride + Offset(p.x);  // BUG index-overflow
    y[p.y * 2 + p.x] = ulong(at) < limit ? x[at] : 0;
}
