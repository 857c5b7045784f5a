// Source: https://github.com/ggml-org/llama.cpp/pull/26434
// Keys and values of the next block replace those that a slower simdgroup is still reading.
#include <metal_stdlib>
using namespace metal;

//! [kernel.fa_tiles]
//! threads = 64
//! threadgroup = 64
//! arguments.q = { shape = [64, 8], fill = "random" }
//! arguments.k = { shape = [32, 8], fill = "random" }
//! arguments.v = { shape = [32, 8], fill = "random" }
//! arguments.o = { shape = [64, 8], fill = "zeros" }
//! arguments.n_kv = 32
#define BN 16
#define D 8
kernel void fa_tiles(device const float* q, device const float* k, device const float* v,
                     device float* o, constant int& n_kv,
                     uint row [[thread_position_in_threadgroup]]) {
    threadgroup float l_k[BN][D];
    threadgroup float l_v[BN][D];
    float acc[D] = {0};
    float m = -1e30f, l = 0;
    for (int start = 0; start < n_kv; start += BN) {
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        for (uint i = row; i < BN * D; i += 64) {
            l_k[i / D][i % D] = k[start * D + i];  // BUG race-read-write
            l_v[i / D][i % D] = v[start * D + i];  // BUG race-read-write
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int j = 0; j < BN; ++j) {
            float s = 0;
            for (int d = 0; d < D; ++d) {
                s += q[row * D + d] * l_k[j][d];  // WITH
            }
            float top = max(m, s), scale = exp(m - top), p = exp(s - top);
            l = l * scale + p;
            m = top;
            for (int d = 0; d < D; ++d) {
                acc[d] = acc[d] * scale + p * l_v[j][d];  // WITH
            }
        }
    }
    for (int d = 0; d < D; ++d) o[row * D + d] = acc[d] / l;
}
