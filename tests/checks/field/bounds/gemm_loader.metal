// Source: https://github.com/ml-explore/mlx/issues/632
// A thread that is outside of the tile reads a default place that is outside of the matrix.
#include <metal_stdlib>
using namespace metal;

//! [kernel.gemm_loader]
//! threadgroups = 2
//! threadgroup = [16, 2]
//! arguments.a = { shape = [5, 16], dtype = "float16", fill = "ones" }
//! arguments.sums = { shape = 2, fill = "zeros" }
//! arguments.rows = 5
kernel void gemm_loader(device const half* a, device float* sums, constant short& rows,
                        uint g [[threadgroup_position_in_grid]],
                        ushort2 t [[thread_position_in_threadgroup]],
                        ushort i [[thread_index_in_simdgroup]]) {
    float acc = 0;
    const short left = rows - short(g) * 4;
    for (short r = t.y; r < 4; r += 2) {
#ifdef FIXED
        half v = r < left ? a[(g * 4 + r) * 16 + t.x] : half(0);
#else
        half v = a[(g * 4 + r) * 16 + t.x];  // BUG out-of-bounds-read
        v = r < left ? v : half(0);
#endif
        acc += v;
    }
    acc = simd_sum(acc);
    if (i == 0) sums[g] = acc;
}
