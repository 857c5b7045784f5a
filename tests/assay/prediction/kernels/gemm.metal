#include <metal_stdlib>
using namespace metal;
constant constexpr uint BM = 64, BN = 64, BK = 32;

static void load_A_tile(device const half* A, threadgroup half* buf, uint row, uint k, uint K, uint t) {
    for (uint i = t; i < BM * BK / 4; i += 128) {
        uint r = i / (BK / 4), c = i % (BK / 4) * 4;
        *(threadgroup half4*)(buf + r * BK + c) = *(device const half4*)(A + (row + r) * K + k + c);
    }
}
static void load_B_tile(device const half* B, threadgroup half* buf, uint col, uint k, uint N, uint t) {
    for (uint i = t; i < BK * BN / 4; i += 128) {
        uint r = i / (BN / 4), c = i % (BN / 4) * 4;
        *(threadgroup half4*)(buf + r * BN + c) = *(device const half4*)(B + (k + r) * N + col + c);
    }
}
static void compute(threadgroup const half* a, threadgroup const half* b,
                    thread simdgroup_float8x8 (&acc)[4][4], uint sy, uint sx) {
    for (uint kk = 0; kk < BK; kk += 8) {
        simdgroup_half8x8 fa[4], fb[4];
        for (uint i = 0; i < 4; i++) simdgroup_load(fa[i], a + (sy * 32 + i * 8) * BK + kk, BK);
        for (uint j = 0; j < 4; j++) simdgroup_load(fb[j], b + kk * BN + sx * 32 + j * 8, BN);
        for (uint i = 0; i < 4; i++)
            for (uint j = 0; j < 4; j++) simdgroup_multiply_accumulate(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
}
//! [kernel.gemm]
//! threadgroups = [64, 64]
//! threadgroup = 128
//! arguments.A = { shape = [4096, 4096], fill = "random" }
//! arguments.B = { shape = [4096, 4096], fill = "random" }
//! arguments.C = { shape = [4096, 4096], fill = "zeros" }
//! arguments.M = 4096
//! arguments.N = 4096
//! arguments.K = 4096
kernel void gemm(device const half* A [[buffer(0)]], device const half* B [[buffer(1)]],
                 device float* C [[buffer(2)]], constant uint& M [[buffer(3)]],
                 constant uint& N [[buffer(4)]], constant uint& K [[buffer(5)]],
                 uint2 tg [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                 uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup half A_tile[BM * BK];
    threadgroup half B_tile[BK * BN];
    uint row = tg.y * BM, col = tg.x * BN;
    simdgroup_float8x8 acc[4][4];
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) acc[i][j] = simdgroup_float8x8(0);
    for (uint k = 0; k < K; k += BK) {
        load_A_tile(A, A_tile, row, k, K, t);
        load_B_tile(B, B_tile, col, k, N, t);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        compute(A_tile, B_tile, acc, sg / 2, sg % 2);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++)
            simdgroup_store(acc[i][j], C + (row + (sg / 2) * 32 + i * 8) * N + col + (sg % 2) * 32 + j * 8, N);
}
