#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant constexpr uint TILE_M = 16, TILE_N = 16, TILE_K = 16, STAGES = 3;

//! [kernel.ring]
//! threadgroups = [1, 1]
//! threadgroup = 128
//! arguments.K = 64
kernel void ring(device const half* A, device const half* B, device float* C,
                 constant uint& K, constant uint& N, uint2 group [[threadgroup_position_in_grid]],
                 uint simd_id [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]],
                 uint t [[thread_index_in_threadgroup]]) {
  threadgroup half A_buf[STAGES][TILE_M][TILE_K];
  threadgroup half B_buf[STAGES][TILE_K][TILE_N];
  uint row0 = group.y * TILE_M, col0 = group.x * TILE_N;
  uint tiles = K / TILE_K;
  for (uint i = t; i < TILE_M * TILE_K; i += 128) {
    uint r = i / TILE_K, c = i % TILE_K;
    A_buf[0][r][c] = A[(row0 + r) * K + c];
    B_buf[0][r][c] = B[r * N + col0 + c];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = t; i < TILE_M * TILE_K; i += 128) {
    uint r = i / TILE_K, c = i % TILE_K;
    A_buf[1][r][c] = A[(row0 + r) * K + TILE_K + c];
    B_buf[1][r][c] = B[(TILE_K + r) * N + col0 + c];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint buf_compute = 0, buf_load = 2;
  simdgroup_float8x8 acc[2];
  acc[0] = simdgroup_float8x8(0); acc[1] = simdgroup_float8x8(0);
  for (uint kt = 0; kt < tiles; ++kt) {
    uint next_k = (kt + 2) * TILE_K;
    if (simd_id < 2) {
      if (next_k < K) {
        for (uint i = simd_id * 32 + lane; i < TILE_M * TILE_K; i += 64) {
          uint r = i / TILE_K, c = i % TILE_K;
          A_buf[buf_load][r][c] = A[(row0 + r) * K + next_k + c];
          B_buf[buf_load][r][c] = B[(next_k + r) * N + col0 + c];
        }
      }
    } else {
      uint sg = simd_id - 2;
      for (uint k = 0; k < TILE_K; k += 8) {
        simdgroup_half8x8 a, b;
        simdgroup_load(a, &A_buf[buf_compute][sg * 8][k], TILE_K);
        for (uint n = 0; n < 2; ++n) {
          simdgroup_load(b, &B_buf[buf_compute][k][n * 8], TILE_N);
          simdgroup_multiply_accumulate(acc[n], a, b, acc[n]);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    buf_compute = (buf_compute + 1) % STAGES;
    buf_load = (buf_load + 1) % STAGES;
  }
  if (simd_id >= 2) {
    uint sg = simd_id - 2;
    for (uint n = 0; n < 2; ++n)
      simdgroup_store(acc[n], C + (row0 + sg * 8) * N + col0 + n * 8, N);
  }
}
