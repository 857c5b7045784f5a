// Source: https://github.com/JuliaGPU/Metal.jl/pull/839
// Tiles of queries, keys and values in float rather than half.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fa_single]
//! threads = 64
//! threadgroup = 64
//! arguments.q = { shape = 64, fill = "ones" }
//! arguments.o = { shape = 64, fill = "zeros" }
template <typename T> struct Tiles {
    T q[64][48], k[64][48], v[64][48];
};

#ifdef FIXED
typedef Tiles<half> Store;
#else
typedef Tiles<float> Store;
#endif

kernel void fa_single(device const float* q, device float* o,  // BUG threadgroup-memory
                      uint t [[thread_position_in_threadgroup]]) {
    threadgroup Store s;  // MAYBE threadgroup-memory
    s.q[t][0] = q[t];
    s.k[t][0] = q[t];
    s.v[t][0] = s.q[t][0] * s.k[t][0];
    o[t] = s.v[t][0];
}
