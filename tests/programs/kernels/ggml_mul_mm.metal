// Quantised matrix times matrix: dequantised tiles in threadgroup memory, simdgroup matrices.
#include <metal_stdlib>
using namespace metal;

typedef struct { half d; uint8_t qs[16]; } block_q4_0;
typedef struct { half d; int8_t qs[32]; } block_q8_0;

typedef struct {
    int32_t  ne00;              // columns of the weights = length of the vectors
    uint64_t nb01;              // bytes of a row of weights
    uint64_t nb11;              // bytes of a vector
    int32_t  ne0;               // rows of the weights
    int32_t  ne1;               // vectors
} mul_mm_args;

// Sixteen weights of a block, the `il`-th part of it, as a matrix.
template <typename type4x4>
void dequantize_f32(device const float4x4* src, short, thread type4x4& reg) {
    reg = (type4x4)*src;
}

template <typename type4x4>
void dequantize_q4_0(device const block_q4_0* xb, short il, thread type4x4& reg) {
    const float d = xb->d;
    for (int i = 0; i < 16; i++) {
        const int quant = il ? xb->qs[i] >> 4 : xb->qs[i] & 0xF;
        reg[i / 4][i % 4] = d * (quant - 8);
    }
}

template <typename type4x4>
void dequantize_q8_0(device const block_q8_0* xb, short il, thread type4x4& reg) {
    device const int8_t* qs = xb->qs + 16 * il;
    float4x4 wide;
    for (int i = 0; i < 16; i++) {
        wide[i / 4][i % 4] = qs[i] * (float)xb->d;
    }
    reg = (type4x4)wide;
}

#define ROWS 32      // of weights, in a threadgroup
#define VECTORS 16
#define DEPTH 32     // of one step
#define THREADS 64

template <typename T, typename T4x4, typename S8x8, typename block_q, short nl,
          void (*dequantize)(device const block_q*, short, thread T4x4&)>
kernel void mul_mm(constant mul_mm_args& args [[buffer(0)]],
                   device const char* src0 [[buffer(1)]],
                   device const char* src1 [[buffer(2)]],
                   device char* dst [[buffer(3)]],
                   threadgroup char* shmem [[threadgroup(0)]],
                   uint3 tgpig [[threadgroup_position_in_grid]],
                   ushort tiitg [[thread_index_in_threadgroup]],
                   ushort sgitg [[simdgroup_index_in_threadgroup]]) {
    threadgroup T* sa = (threadgroup T*)shmem;                              // [ROWS][DEPTH]
    threadgroup T* sb = (threadgroup T*)(shmem + ROWS * DEPTH * sizeof(T)); // [VECTORS][DEPTH]
    const int r0 = tgpig.y * ROWS, r1 = tgpig.x * VECTORS;
    const short n_rows = min(args.ne0 - r0, ROWS), n_vectors = min(args.ne1 - r1, VECTORS);

    // A thread dequantises 16 weights of a row; rows beyond the end repeat the last one.
    const short my_row = tiitg / 2, part = tiitg % 2;
    device const block_q* x =
        (device const block_q*)(src0 + args.nb01 * (r0 + min(my_row, short(n_rows - 1))));
    S8x8 ma[2];
    S8x8 mb[2];
    simdgroup_float8x8 mc[2][2];
    for (short i = 0; i < 4; ++i) {
        mc[i / 2][i % 2] = make_filled_simdgroup_matrix<float, 8>(0.f);
    }
    for (int k = 0; k < args.ne00; k += DEPTH) {
        T4x4 temp;
        const int chunk = k / 16 + part;
        dequantize(x + chunk / nl, chunk % nl, temp);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        #pragma unroll(16)
        for (short i = 0; i < 16; ++i) {
            sa[my_row * DEPTH + part * 16 + i] = temp[i / 4][i % 4];
        }
        for (short i = tiitg; i < VECTORS * DEPTH; i += THREADS) {
            const short v = min(short(i / DEPTH), short(n_vectors - 1));
            sb[i] = (T)((device const float*)(src1 + args.nb11 * (r1 + v)))[k + i % DEPTH];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short d = 0; d < DEPTH; d += 8) {
            for (short i = 0; i < 2; ++i) {  // rows 16 * sgitg ..
                simdgroup_load(ma[i], sa + (16 * sgitg + 8 * i) * DEPTH + d, DEPTH, 0, true);
                simdgroup_load(mb[i], sb + 8 * i * DEPTH + d, DEPTH);
            }
            simdgroup_barrier(mem_flags::mem_none);
            for (short i = 0; i < 4; ++i) {
                simdgroup_multiply_accumulate(mc[i / 2][i % 2], mb[i / 2], ma[i % 2],
                                              mc[i / 2][i % 2]);
            }
        }
    }
    if (n_rows == ROWS && n_vectors == VECTORS) {
        device float* c = (device float*)dst + r0 + 16 * sgitg + r1 * args.ne0;
        for (short i = 0; i < 4; ++i) {
            simdgroup_store(mc[i / 2][i % 2], c + 8 * (i % 2) + 8 * args.ne0 * (i / 2), args.ne0);
        }
        return;
    }
    // The edge: by way of threadgroup memory.
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup float* sc = (threadgroup float*)shmem;
    for (short i = 0; i < 4; ++i) {
        simdgroup_store(mc[i / 2][i % 2], sc + 16 * sgitg + 8 * (i % 2) + 8 * ROWS * (i / 2), ROWS);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short j = sgitg; j < n_vectors; j += THREADS / 32) {
        device float* row = (device float*)dst + r0 + (r1 + j) * args.ne0;
        for (short i = tiitg % 32; i < n_rows; i += 32) {
            row[i] = sc[j * ROWS + i];
        }
    }
}

typedef decltype(mul_mm<half, half4x4, simdgroup_half8x8, float4x4, 1, dequantize_f32>) mul_mm_t;
typedef decltype(mul_mm<bfloat, bfloat4x4, simdgroup_bfloat8x8, block_q8_0, 2, dequantize_q8_0>)
    mul_mm_bf_t;

template [[host_name("mul_mm_f32")]] kernel mul_mm_t
    mul_mm<half, half4x4, simdgroup_half8x8, float4x4, 1, dequantize_f32>;
template [[host_name("mul_mm_q4_0")]] kernel mul_mm_t
    mul_mm<half, half4x4, simdgroup_half8x8, block_q4_0, 2, dequantize_q4_0>;
template [[host_name("mul_mm_q8_0_bf16")]] kernel mul_mm_bf_t
    mul_mm<bfloat, bfloat4x4, simdgroup_bfloat8x8, block_q8_0, 2, dequantize_q8_0>;
