"""The measured kernels, the same in Metal Shading Language and in OpenCL C."""

from __future__ import annotations

import re

TILE = 16
SOFTMAX_THREADS = 256

MSL = """
#include <metal_stdlib>
using namespace metal;

kernel void tiled_gemm(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                       device float* c [[buffer(2)]], constant uint& n [[buffer(3)]],
                       uint2 position [[thread_position_in_grid]],
                       uint2 local [[thread_position_in_threadgroup]]) {
    threadgroup float tile_a[16][16];
    threadgroup float tile_b[16][16];
    float sum = 0;
    for (uint k = 0; k < n; k += 16) {
        tile_a[local.y][local.x] = a[position.y * n + k + local.x];
        tile_b[local.y][local.x] = b[(k + local.y) * n + position.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 16; i++) sum += tile_a[local.y][i] * tile_b[i][local.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[position.y * n + position.x] = sum;
}

kernel void softmax_rows(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                         constant uint& n [[buffer(2)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint local [[thread_position_in_threadgroup]]) {
    threadgroup float scratch[256];
    float largest = -INFINITY;
    for (uint i = local; i < n; i += 256) largest = fmax(largest, in[row * n + i]);
    scratch[local] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 128; step > 0; step /= 2) {
        if (local < step) scratch[local] = fmax(scratch[local], scratch[local + step]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    largest = scratch[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint i = local; i < n; i += 256) {
        float e = exp(in[row * n + i] - largest);
        out[row * n + i] = e;
        sum += e;
    }
    scratch[local] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 128; step > 0; step /= 2) {
        if (local < step) scratch[local] += scratch[local + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    sum = scratch[0];
    for (uint i = local; i < n; i += 256) out[row * n + i] /= sum;
}

kernel void vector_add(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                       device float* c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}
"""

# 64x64 of the result per threadgroup of four simdgroups, 32 deep at a time; a simdgroup computes
# 32x32 of it as 4x4 matrices.
MATRIX_MSL = """
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

kernel void matrix_gemm(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                        device float* c [[buffer(2)]], constant uint& n [[buffer(3)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup half tile_a[64 * 32];
    threadgroup half tile_b[32 * 64];
    simdgroup_float8x8 sums[4][4];
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    uint top = (simdgroup / 2) * 32, left = (simdgroup % 2) * 32;
    for (uint k = 0; k < n; k += 32) {
        for (uint i = thread_index; i < 64 * 32; i += 128) {
            tile_a[i] = a[(group.y * 64 + i / 32) * n + k + i % 32];
            tile_b[i] = b[(k + i / 64) * n + group.x * 64 + i % 64];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint kk = 0; kk < 32; kk += 8) {
            simdgroup_half8x8 ma[4], mb[4];
            for (uint i = 0; i < 4; i++) {
                simdgroup_load(ma[i], tile_a + (top + i * 8) * 32 + kk, 32);
                simdgroup_load(mb[i], tile_b + kk * 64 + left + i * 8, 64);
            }
            for (uint i = 0; i < 4; i++)
                for (uint j = 0; j < 4; j++)
                    simdgroup_multiply_accumulate(sums[i][j], ma[i], mb[j], sums[i][j]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = 0; i < 4; i++)
        for (uint j = 0; j < 4; j++)
            simdgroup_store(sums[i][j],
                            c + (group.y * 64 + top + i * 8) * n + group.x * 64 + left + j * 8, n);
}
"""

# The same with its loops over matrices unrolled, as most public kernels have theirs.
UNROLLED_MATRIX_MSL = re.sub(
    r"for \(uint [ij] = 0; [ij] < 4; ", r'_Pragma("unroll") \g<0>', MATRIX_MSL
)

OPENCL = """
__attribute__((reqd_work_group_size(16, 16, 1)))
kernel void tiled_gemm(global const float* a, global const float* b, global float* c, uint n) {
    local float tile_a[16][16];
    local float tile_b[16][16];
    uint x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k += 16) {
        tile_a[ly][lx] = a[y * n + k + lx];
        tile_b[ly][lx] = b[(k + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 16; i++) sum += tile_a[ly][i] * tile_b[i][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

__attribute__((reqd_work_group_size(256, 1, 1)))
kernel void softmax_rows(global const float* in, global float* out, uint n) {
    local float scratch[256];
    uint row = get_group_id(0), id = get_local_id(0);
    float largest = -INFINITY;
    for (uint i = id; i < n; i += 256) largest = fmax(largest, in[row * n + i]);
    scratch[id] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 128; step > 0; step /= 2) {
        if (id < step) scratch[id] = fmax(scratch[id], scratch[id + step]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    largest = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint i = id; i < n; i += 256) {
        float e = exp(in[row * n + i] - largest);
        out[row * n + i] = e;
        sum += e;
    }
    scratch[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 128; step > 0; step /= 2) {
        if (id < step) scratch[id] += scratch[id + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = scratch[0];
    for (uint i = id; i < n; i += 256) out[row * n + i] /= sum;
}

kernel void vector_add(global const float* a, global const float* b, global float* c) {
    uint i = get_global_id(0);
    c[i] = a[i] + b[i];
}
"""
