#include <metal_stdlib>
#include "library.h"
using namespace metal;

constant short SIMDGROUPS [[function_constant(0)]];
constant bool HAS_BIAS [[function_constant(1)]];

struct block_q4 { half d; uchar qs[BLOCK / 2]; };
struct block_q8 { half d; char qs[BLOCK]; };

static float dot_block(device const block_q4* b, device const float* y) {
    float sum = 0;
    #pragma unroll (BLOCK / 2)
    for (short i = 0; i < BLOCK / 2; ++i) {
        sum += ((b->qs[i] & 0xF) - 8) * y[i] + ((b->qs[i] >> 4) - 8) * y[i + BLOCK / 2];
    }
    return sum * b->d;
}

static float dot_block(device const block_q8* b, device const float* y) {
    float sum = 0;
    #pragma unroll (BLOCK)
    for (short i = 0; i < BLOCK; ++i) sum += b->qs[i] * y[i];
    return sum * b->d;
}

template <typename block_t>
kernel void mul_mv(constant library_args_mul_mv& args [[buffer(0)]],
                   device const char* src0 [[buffer(1)]],
                   device const char* src1 [[buffer(2)]],
                   device char* dst [[buffer(3)]],
                   uint3 group [[threadgroup_position_in_grid]],
                   ushort lane [[thread_index_in_simdgroup]],
                   ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
    const int row = group.x * SIMDGROUPS + simdgroup;
    if (row >= args.ne01) return;
    const int blocks = args.ne00 / BLOCK;
    device const block_t* x = (device const block_t*)(src0 + row * args.nb01);
    device const float* y = (device const float*)(src1 + group.y * args.nb11);
    float sum = 0;
    for (int b = lane; b < blocks; b += 32) sum += dot_block(x + b, y + b * BLOCK);
    sum = simd_sum(sum);
    if (lane == 0) ((device float*)(dst + group.y * args.nb1))[row] = sum;
}

typedef decltype(mul_mv<block_q4>) mul_mv_t;
template [[host_name("mul_mv_q4")]] kernel mul_mv_t mul_mv<block_q4>;
template [[host_name("mul_mv_q8")]] kernel mul_mv_t mul_mv<block_q8>;

template <typename T>
kernel void add(constant library_args_add& args [[buffer(0)]],
                device const T* src0 [[buffer(1)]],
                device const T* src1 [[buffer(2), function_constant(HAS_BIAS)]],
                device T* dst [[buffer(3)]],
                uint3 group [[threadgroup_position_in_grid]],
                ushort3 thread_ [[thread_position_in_threadgroup]],
                ushort3 size [[threads_per_threadgroup]]) {
    for (int i = thread_.x; i < args.ne0; i += size.x) {
        const int at = group.x * args.ne0 + i;
        dst[at] = HAS_BIAS ? src0[at] + src1[i % args.ne10] : src0[at];
    }
}

typedef decltype(add<float>) add_t;
template [[host_name("add_f32")]] kernel add_t add<float>;
template [[host_name("add_f16")]] kernel decltype(add<half>) add<half>;

kernel void soft_max(constant library_args_add& args [[buffer(0)]],
                     device const float* src0 [[buffer(1)]],
                     device float* dst [[buffer(2)]],
                     threadgroup float* shmem [[threadgroup(0)]],
                     uint row [[threadgroup_position_in_grid]],
                     ushort lane [[thread_index_in_simdgroup]],
                     ushort simdgroup [[simdgroup_index_in_threadgroup]],
                     ushort thread_ [[thread_position_in_threadgroup]],
                     ushort size [[threads_per_threadgroup]]) {
    float most = -INFINITY;
    for (int i = thread_; i < args.ne0; i += size) most = max(most, src0[row * args.ne0 + i]);
    most = simd_max(most);
    if (lane == 0) shmem[simdgroup] = most;
    // A barrier is missing here.
    most = simd_max(shmem[lane < size / 32 ? lane : 0]);
    for (int i = thread_; i < args.ne0; i += size) {
        dst[row * args.ne0 + i] = exp(src0[row * args.ne0 + i] - most);
    }
}

kernel void unfinished(device float* dst [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    dst[i] = not_written_yet(i);
}
